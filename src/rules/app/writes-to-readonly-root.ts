import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { earliest } from '../../facts/time.ts';
import { crashesOf, saying } from '../../facts/workloads/crashes.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const readOnly = /read-only file ?system|EROFS|\[Errno 30\]/i;

export default rule({
  title: 'A container writes to its own root, which its template (or a policy that changed it) makes read-only',
  lookAlikes: [
    'a node’s filesystem that has become read-only: pods without that setting fail there too',
    'a volume mounted read-only by its claim or its mount',
  ],
  judge(facts, scope) {
    const crashes = crashesOf(facts, scope.pods).flatMap((crash) => {
      const container = (crash.pod.spec?.containers ?? []).find((entry: any) => entry.name === crash.container);
      const said = saying(crash, readOnly);
      return container?.securityContext?.readOnlyRootFilesystem === true && said ? [{ crash, said, container }] : [];
    });
    return groupBy(crashes, ({ crash }) => nameOf(facts.workloadOf(crash.pod))).flatMap((group): FindingDraft[] => {
      const { crash, said, container } = group[0]!;
      const mounted = (container.volumeMounts ?? []).some(
        (mount: any) => mount.mountPath !== '/' && said.text.includes(mount.mountPath),
      );
      // What is mounted there is not the root: the volume or its disk is read-only.
      if (mounted) return [];
      const workload = facts.workloadOf(crash.pod);
      const template = (podSpecOf(workload).containers ?? []).find((entry: any) => entry.name === crash.container);
      const changed = template !== undefined && template.securityContext?.readOnlyRootFilesystem !== true;
      const owner = changed ? 'platform' : ownershipOf(facts, workload);
      const writer = lastWriter(workload, 'f:readOnlyRootFilesystem');
      const index = crash.pod.spec.containers.indexOf(container);
      const evidence = cite(owner, facts);
      return [
        {
          mechanism: 'crash',
          explains: ['probe', 'rollout', 'application-error', 'job', 'unknown-symptom', 'node-runtime'],
          owner,
          boundary: changed ? 'admission' : 'config',
          strength: 'direct',
          cause: text(
            `Container ${crash.container} of ${nameOf(workload)} ends because it writes to its root, which is read-only (readOnlyRootFilesystem${changed ? ', set at admission and not in the template' : writer ? `, last written at ${writer.time} by ${writer.manager}` : ''}): “${said.text.slice(0, 200)}”.`,
          ),
          root: refOf(workload),
          affects: [workload, ...group.map((entry) => entry.crash.pod)].map(refOf),
          onset: earliest(...group.map((entry) => entry.crash.finishedAt)),
          evidence: [
            ...(said.line ? [evidence.log(said.line.log, said.text)] : []),
            evidence.field(
              crash.pod,
              `spec.containers[${index}].securityContext.readOnlyRootFilesystem`,
              container.securityContext.readOnlyRootFilesystem,
            ),
            evidence.field(crash.pod, 'status.containerStatuses', `exit ${crash.exitCode}, ${crash.restarts} restarts`),
          ],
          chain: [link(workload, 'writes to its root'), link(crash.pod, 'its root is read-only')],
          nextSteps: [
            text(
              `Mount an emptyDir where ${crash.container} writes${changed ? ', or except it from the policy that sets readOnlyRootFilesystem' : ''}.`,
            ),
          ],
        },
      ];
    });
  },
});
