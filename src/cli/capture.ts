import { describeSubject } from '../domain/alert.ts';
import type { LayerFacts } from '../domain/facts.ts';
import { layers } from '../domain/layer.ts';
import { type CaseFiles, caseFiles } from '../evidence/snapshot-writer/case-files.ts';
import { redact } from '../redaction/redact.ts';
import type { CollectionTarget } from '../triage/collect/collection.ts';
import { collectLayer } from '../triage/collect/layer.ts';
import type { ClusterReaders } from '../triage/ports.ts';

/** What a triage of this target reads, redacted, as an incident folder's files. `alert` is the webhook body. */
export const capture = async (
  id: string,
  unclean: CollectionTarget,
  readers: ClusterReaders,
  alert?: unknown,
): Promise<CaseFiles & { facts: LayerFacts[] }> => {
  const target = redact(unclean);
  // Kubernetes and Prometheus count whole seconds; one moment for all that is read keeps ages as they were.
  const seconds = Math.floor(Date.parse(readers.now()) / 1000);
  const capturedAt = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const frozen: ClusterReaders = { ...readers, now: () => capturedAt };
  const facts = redact(await Promise.all(layers.map((layer) => collectLayer(layer, target, frozen))));
  const title = titleOf(target);
  return { ...caseFiles({ id, title, cluster: target.cluster, capturedAt, alert: redact(alert), facts }), facts };
};

const titleOf = ({ alerts, subjects }: CollectionTarget): string =>
  [alerts[0]?.labels.alertname, subjects[0] && describeSubject(subjects[0])].filter(Boolean).join(': ');
