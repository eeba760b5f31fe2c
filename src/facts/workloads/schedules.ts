import type { ContainerLog } from '../../domain/facts.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';

export interface Sleep {
  /** The annotation or the log line that says a schedule put the workload to zero. */
  annotation?: { key: string; value: string };
  log?: ContainerLog;
  line?: string;
}

/** What tools that stop workloads by the clock leave on them: their name, and the size to return to. */
const mark =
  /^(downscaler|kube-downscaler|py-kube-downscaler|kube-green\.(com|dev)|snorlax|sleep(info|cycle)?s?\.[\w.-]+|cloudscaler|scaler\.[\w.-]+)\/|(original|previous|former|saved)[-_.]?replicas$/i;

const sleeper = /downscaler|kube-green|snorlax|sleep-?(controller|operator)|hibernat/;

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** A workload at zero that a schedule put there, unless the schedule's own hours say it should run now. */
export const sleepOf = (facts: ClusterFacts, workload: KubeObject): Sleep | undefined => {
  if (workload.spec?.replicas !== 0) return undefined;
  const found = Object.entries(workload.metadata.annotations ?? {}).find(([key]) => mark.test(key));
  const { namespace = '', name } = workload.metadata;
  const said = facts.logs.flatMap((log) =>
    log.text
      .split('\n')
      .filter(
        (line) =>
          /scal(ing|ed) down|put(ting)? to sleep|hibernat/i.test(line) && line.includes(`${namespace}/${name} `),
      )
      .map((line) => ({ log, line })),
  );
  const last = said.at(-1);
  if ((!found && !last) || shouldRun(last?.line ?? uptimeOf(facts, workload), facts.now)) return undefined;
  return {
    ...(found ? { annotation: { key: found[0], value: String(found[1]) } } : {}),
    ...(last ? { log: last.log, line: last.line } : {}),
  };
};

/** The tool that put it to sleep: whose log says so, or which goes by a known name. */
export const sleeperOf = (facts: ClusterFacts, sleep: Sleep): KubeObject | undefined => {
  const pod = sleep.log && facts.find('Pod', sleep.log.pod, sleep.log.namespace);
  return pod ? facts.workloadOf(pod) : facts.all('Deployment').find(({ metadata }) => sleeper.test(metadata.name));
};

const uptimeOf = (facts: ClusterFacts, workload: KubeObject): string =>
  [workload, facts.find('Namespace', workload.metadata.namespace)]
    .map((object) => object?.metadata.annotations?.['downscaler/uptime'])
    .filter(Boolean)
    .map((hours) => `uptime: ${hours}`)
    .at(0) ?? '';

/** Hours such as `uptime: Mon-Fri 07:00-19:00 UTC`, read in UTC alone: other zones say nothing here. */
const shouldRun = (line: string, now: string): boolean => {
  const hours = /uptime: (\w{3})-(\w{3}) (\d\d):(\d\d)-(\d\d):(\d\d) UTC/i.exec(line);
  if (!hours) return false;
  const [from, to] = [hours[1]!, hours[2]!].map((day) => days.indexOf(day.toLowerCase())) as [number, number];
  const at = new Date(now);
  const day = at.getUTCDay();
  const minute = at.getUTCHours() * 60 + at.getUTCMinutes();
  const inDays = from <= to ? day >= from && day <= to : day >= from || day <= to;
  return (
    inDays && minute >= Number(hours[3]) * 60 + Number(hours[4]) && minute < Number(hours[5]) * 60 + Number(hours[6])
  );
};
