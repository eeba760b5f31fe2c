import { killedAtEveryStep } from './crash-suite.ts';
import { describeServers } from './installs.ts';

describeServers('a server that is killed', killedAtEveryStep);
