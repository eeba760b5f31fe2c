import type { MissingRead } from '../../domain/finding.ts';
import { text } from '../../domain/text.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { etcdTimeouts, failedChecks, spaceExceeded } from '../../facts/control-plane/apiserver.ts';
import {
  hugeWrites,
  isFilling,
  namespacesOf,
  objectsOf,
  type StoredResource,
  storedResources,
} from '../../facts/control-plane/storage-growth.ts';
import { lastPerPod, timeOf } from '../../facts/logs/log-search.ts';
import { readEvidence } from '../../facts/logs/witness.ts';
import { isPlatformNamespace, ownershipOf, teamOf } from '../../facts/ownership.ts';
import { isManaged } from '../../facts/provider.ts';
import { lastValue, minValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** A resource that holds this share of what was stored, or added, fills the database. */
const fillingShare = 0.5;
/** A namespace that holds this share of such objects is where they come from. */
const ownShare = 0.6;
/** Groups whose objects an add-on writes by itself, whoever's workloads they are about. */
const addOnGroups =
  /(kyverno\.io|wgpolicyk8s\.io|openreports\.io|aquasecurity\.github\.io|cilium\.io|velero\.io|cert-manager\.io|external-secrets\.io|karpenter\.sh|longhorn\.io|crossplane\.io|gatekeeper\.sh|projectcalico\.org|falco\.org|istio\.io|snapshot\.storage\.k8s\.io|coordination\.k8s\.io|certificates\.k8s\.io)$/;

const addOnResources =
  /^((applications|applicationsets|appprojects)\.argoproj\.io|leases|nodes|endpointslices|componentstatuses)(\.|$)/;

export default rule({
  title: 'etcd’s database is full: writes are refused cluster-wide; whose objects fill it decides the owner',
  lookAlikes: [
    'etcd times out for lack of disk or leader: not full',
    'counts without sizes: the most numerous objects need not be the biggest',
  ],
  judge(facts) {
    const { lines, events, reads } = spaceExceeded(facts);
    const refused = lines.length + events.length + reads.length > 0;
    const slow = etcdTimeouts(facts);
    const struggles = failedChecks(facts).some((check) => check.startsWith('etcd')) || slow.lines.length > 0;
    if (!refused && !(struggles && isFilling(facts))) return [];
    const filler = fillerOf(facts);
    const huge = filler ? undefined : hugeWrites(facts, /database space exceeded/);
    const culprit = filler
      ? culpritOf(facts, filler)
      : huge && { ...ofNamespace(facts, huge.namespace), certain: false };
    const owner = culprit?.owner ?? 'undetermined';
    const layer = owner === 'undetermined' ? 'platform' : owner;
    const evidence = cite(layer, facts);
    const size = facts
      .seriesLike(/^(apiserver_storage_(size|db_total_size)|etcd_(mvcc_)?db_total_size)/)
      .sort((a, b) => lastValue(b) - lastValue(a))[0];
    const ready = facts.probe('readyz');
    const sample = filler
      ? objectsOf(facts, filler.name).filter(
          (object) => !culprit?.namespace || object.metadata.namespace === culprit.namespace,
        )
      : [];
    const grew = size ? ` (${gigabytes(minValue(size))} to ${gigabytes(lastValue(size))})` : '';
    return [
      {
        mechanism: 'etcd',
        explains: [
          'control-plane',
          'controller-down',
          'node-silent',
          'crash',
          'pending',
          'rollout',
          'job',
          'webhook',
          'config-missing',
          'unknown-symptom',
        ],
        owner,
        boundary: 'etcd',
        strength: culprit ? (culprit.certain ? 'direct' : 'derived') : 'derived',
        cause: text(
          filler && culprit
            ? `${filler.count} ${filler.name} objects (about ${gigabytes(filler.bytes)}${filler.added > 0 ? `, ${Math.round(filler.added)} of them new` : ''})${culprit.namespace ? ` in namespace ${culprit.namespace}` : ''} fill etcd${grew}, ${refused ? 'so every write is refused: database space exceeded' : 'so calls end in etcd timeouts'}.`
            : huge
              ? `Objects of more than 1 MB each in namespace ${huge.namespace} are what etcd refuses to store: database space exceeded${grew}; they are its likely filling.`
              : `etcd ${refused ? 'is full' : 'fills up'}${grew} and ${refused ? 'refuses writes' : 'times out'}; whose objects fill it cannot be told from what could be read.`,
        ),
        root: sample[0]
          ? {
              kind: sample[0].kind,
              name: sample[0].metadata.name,
              namespace: sample[0].metadata.namespace,
              uid: sample[0].metadata.uid,
            }
          : { kind: 'Etcd', name: facts.identity.name },
        affects: 'cluster',
        onset: earliest(
          ...lines.map((entry) => timeOf(entry.line, facts.now)),
          ...events.map((event) => event.firstAt),
        ),
        evidence: [
          ...lastPerPod(lines)
            .slice(0, 2)
            .map((entry) => evidence.log(entry.log, entry.line)),
          ...events.slice(0, 2).map((event) => evidence.event(event)),
          ...(refused
            ? []
            : lastPerPod(slow.lines)
                .slice(0, 2)
                .map((entry) => evidence.log(entry.log, entry.line))),
          ...reads.slice(0, 1).map((read) => readEvidence(layer, facts, read)),
          ...(size
            ? [evidence.series(size, `grew from ${gigabytes(minValue(size))} to ${gigabytes(lastValue(size))}`)]
            : []),
          ...(filler
            ? [
                evidence.series(
                  filler.series,
                  `${filler.count} objects, ${Math.round(filler.added)} new, about ${gigabytes(filler.bytes)}`,
                ),
              ]
            : []),
          ...sample
            .slice(0, 2)
            .map((object) =>
              evidence.field(
                object,
                'metadata.creationTimestamp',
                object.metadata.creationTimestamp,
                `one of the ${filler!.name}`,
              ),
            ),
          ...(ready && failedChecks(facts).length > 0 ? [evidence.probe(ready)] : []),
        ],
        chain: [
          {
            object: filler
              ? `${filler.name}${culprit?.namespace ? ` in ${culprit.namespace}` : ''}`
              : 'objects in etcd',
            claim: 'fill the database',
          },
          { object: `etcd of ${facts.identity.name}`, claim: 'refuses writes' },
        ],
        contributing:
          owner === 'app'
            ? [
                {
                  owner: 'platform',
                  action: text(
                    `Limit what a namespace may store: object-count quota for ${filler?.name ?? 'the resource'}, a TTL or archive for finished objects.`,
                  ),
                },
              ]
            : [],
        nextSteps: filler
          ? [
              text(
                `Stop what writes ${filler.name}${culprit?.namespace ? ` in ${culprit.namespace}` : ''} and delete finished ones: kubectl get ${filler.name} -A --no-headers | awk '{print $1}' | sort | uniq -c`,
              ),
              text(
                isManaged(facts)
                  ? 'The vendor compacts and defragments; ask for it once the objects are gone.'
                  : 'Then compact, defragment and disarm: etcdctl defrag; etcdctl alarm disarm',
              ),
            ]
          : [
              text(
                "Count objects by resource: kubectl get --raw /metrics | grep -E '^apiserver_(storage|resource)_objects' | sort -k2 -n | tail",
              ),
            ],
        missing: culprit ? [] : missingReads(facts, filler),
      },
    ];
  },
});

const gigabytes = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;

/** The resource that holds most of what is stored, or most of what came while the database grew. */
const fillerOf = (facts: ClusterFacts): StoredResource | undefined => {
  const stored = storedResources(facts);
  const total = stored.reduce((sum, entry) => sum + entry.bytes, 0);
  const added = stored.reduce((sum, entry) => sum + entry.addedBytes, 0);
  const growing = [...stored].sort((a, b) => b.addedBytes - a.addedBytes)[0];
  if (growing && added > total / 10 && growing.addedBytes >= fillingShare * added) return growing;
  return stored[0] && stored[0].bytes >= fillingShare * total ? stored[0] : undefined;
};

const culpritOf = (
  facts: ClusterFacts,
  filler: StoredResource,
): { owner: 'app' | 'platform'; namespace?: string; certain: boolean } | undefined => {
  if (addOnGroups.test(filler.name) || addOnResources.test(filler.name)) return { owner: 'platform', certain: true };
  const [most] = namespacesOf(facts, filler.name);
  if (!most || most.share < ownShare)
    return filler.name.startsWith('events') ? { owner: 'platform', certain: false } : undefined;
  const namespace = facts.find('Namespace', most.namespace) ?? {
    kind: 'Namespace',
    metadata: { name: most.namespace },
  };
  const object = objectsOf(facts, filler.name).find((entry) => entry.metadata.namespace === most.namespace);
  const owner = object
    ? ownershipOf(facts, object)
    : teamOf(namespace)
      ? ownershipOf(facts, { kind: 'Pod', metadata: { name: '', namespace: most.namespace } })
      : isPlatformNamespace(most.namespace)
        ? 'platform'
        : 'app';
  return { owner, namespace: most.namespace, certain: object !== undefined };
};

const ofNamespace = (facts: ClusterFacts, name: string): { owner: 'app' | 'platform'; namespace: string } => ({
  owner: ownershipOf(facts, { kind: 'Pod', metadata: { name: '', namespace: name } }),
  namespace: name,
});

const missingReads = (facts: ClusterFacts, filler: StoredResource | undefined): MissingRead[] => [
  filler
    ? {
        layer: 'app',
        missing: `namespaces of the ${filler.name} objects`,
        fix: `grant list on ${filler.name}, or: kubectl get ${filler.name} -A --no-headers | awk '{print $1}' | sort | uniq -c`,
      }
    : {
        layer: 'platform',
        missing: 'object counts by resource (apiserver_storage_objects, apiserver_resource_objects)',
        fix: 'scrape the API server’s /metrics, or: kubectl get --raw /metrics',
      },
  ...facts.reads
    .filter((read) => read.gap?.reason === 'forbidden' && read.source === 'kubernetes')
    .slice(0, 2)
    .map((read): MissingRead => ({ layer: 'app', missing: read.gap!.message, fix: read.gap!.fix })),
];
