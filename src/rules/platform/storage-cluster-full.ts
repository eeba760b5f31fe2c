import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { linesLike, timeOf } from '../../facts/logs/log-search.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** What storage that runs in the cluster says when it can take no more writes. */
const full =
  /\b(OSD|POOL)_FULL\b|full osd\(s\)|pool\(s\) full|insufficient storage[^\n]*(longhorn|replica)|thin pool[^\n]*full|(pool|disk|brick)[^\n]{0,40}(is|are|100%) full|MAX_AVAIL 0\b/i;
const homes = /^(rook-|ceph|longhorn|openebs|linstor|piraeus|portworx|gluster|minio|storage)/;
const driver = /ceph|longhorn|openebs|linstor|portworx|gluster/i;

export default rule({
  title: 'Storage that the cluster runs for itself is full and blocks every write',
  lookAlikes: ['one volume is full: its own owner', 'a vendor’s disks: they do not share one pool'],
  judge(facts, scope) {
    const lines = linesLike(facts, full, (log) => homes.test(log.namespace));
    const cleared = linesLike(facts, /Health check cleared: (OSD|POOL)_FULL|HEALTH_OK/, (log) =>
      homes.test(log.namespace),
    );
    const victims = scope.pods.filter((pod) => usesOwnStorage(facts, pod));
    if (lines.length === 0 || cleared.length > 0 || victims.length === 0) return [];
    const evidence = cite('platform', facts);
    const first = lines[0]!;
    const said = facts.find('Pod', first.log.pod, first.log.namespace);
    const home = said ? facts.workloadOf(said) : facts.workloadOf(victims[0]!);
    return [
      {
        mechanism: 'volume' as const,
        explains: [
          'probe' as const,
          'crash' as const,
          'application-error' as const,
          'dependency' as const,
          'pending' as const,
          'rollout' as const,
          'unknown-symptom' as const,
        ],
        owner: 'platform' as const,
        boundary: 'storage' as const,
        strength: 'direct' as const,
        cause: text(
          `The cluster's own storage in ${first.log.namespace} is full and takes no writes: “${first.line.slice(-140)}”.`,
        ),
        root: refOf(home),
        affects: [...victims, ...victims.map((pod) => facts.workloadOf(pod))].map(refOf),
        onset: earliest(...lines.map((entry) => timeOf(entry.line, facts.now))),
        evidence: lines.slice(0, 4).map((entry) => evidence.log(entry.log, entry.line)),
        chain: [
          link(home, 'its storage is full'),
          ...victims.slice(0, 3).map((pod) => link(pod, 'waits for its writes')),
        ],
        nextSteps: [
          text('Add or free capacity in the storage cluster; until then nothing that writes to it will recover.'),
        ],
      },
    ];
  },
});

const usesOwnStorage = (facts: ClusterFacts, pod: KubeObject): boolean =>
  (pod.spec?.volumes ?? []).some((volume: any) => {
    const claim = facts.find('PersistentVolumeClaim', volume.persistentVolumeClaim?.claimName, pod.metadata.namespace);
    const backing = facts.find('PersistentVolume', claim?.spec?.volumeName);
    const provisioner = facts.find('StorageClass', claim?.spec?.storageClassName)?.provisioner;
    return driver.test([backing?.spec?.csi?.driver, provisioner, claim?.spec?.storageClassName].join(' '));
  });
