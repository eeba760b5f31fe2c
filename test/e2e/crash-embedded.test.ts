import { killedAtEveryStep } from './crash-suite.ts';
import { describeEmbedded } from './installs.ts';

describeEmbedded('a server that is killed', killedAtEveryStep);
