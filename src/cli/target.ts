import { readFile } from 'node:fs/promises';
import { type Alert, describeSubject, type Subject } from '../domain/alert.ts';
import type { ClusterIdentity, LayerFacts } from '../domain/facts.ts';
import { kindNames, namespaceOf, parseObject } from '../intake/object.ts';
import { parsePayload } from '../intake/payload.ts';
import { resolveSubject } from '../intake/subject.ts';
import type { CollectionTarget } from '../triage/collect/collection.ts';
import { OperatorError } from './operator-error.ts';

/** `deployment/web` as a person types it. Throws OperatorError where it names no known kind or lacks its namespace. */
const subjectOf = (object: string, namespace: string | undefined, cluster: string): Subject => {
  const parsed = parseObject(object, namespace, cluster);
  if (!parsed.ok) throw new OperatorError(parsed.problem);
  return parsed.subject;
};

export const objectTarget = (
  object: string,
  namespace: string | undefined,
  cluster: ClusterIdentity,
): CollectionTarget => ({
  cluster,
  subjects: [subjectOf(object, namespace, cluster.name)],
  alerts: [],
});

/**
 * Throws OperatorError where a named object is not there although its kind was read: most likely its name is misspelt.
 * The error names what the kind holds there.
 */
export const refuseAbsent = ({ cluster, subjects: [subject] }: CollectionTarget, facts: LayerFacts[]): void => {
  const [, plural] = (subject && kindNames[subject.kind]) ?? [];
  if (!subject?.name || !plural) return;
  const reads = facts.flatMap((batch) => batch.reads).filter((read) => read.what === plural);
  if (reads.length === 0 || reads.some((read) => read.gap)) return;
  const sameKind = facts
    .flatMap((batch) => batch.objects)
    .filter((object) => object.kind === subject.kind && object.metadata.namespace === namespaceOf(subject));
  const names = [...new Set(sameKind.map((object) => object.metadata.name))].sort();
  if (names.includes(subject.name)) return;
  const more = names.length > 10 ? ` and ${names.length - 10} more` : '';
  throw new OperatorError(
    `${describeSubject(subject)} was not found in ${cluster.name}; ${plural} there: ${names.slice(0, 10).join(', ') || 'none'}${more}`,
  );
};

/** The alerts of a webhook body in a file. Throws OperatorError where there is none. */
export const readAlerts = async (file: string): Promise<Alert[]> => {
  const body = await readFile(file, 'utf8').catch(() => {
    throw new OperatorError(`cannot read ${file}: it must be an Alertmanager webhook body`);
  });
  const parsed = parsePayload(body);
  if (!parsed.ok) throw new OperatorError(`${file}: ${parsed.refusal.error}; ${parsed.refusal.fix}`);
  if (parsed.group.alerts.length === 0)
    throw new OperatorError(`${file} holds no alert: ${parsed.rejected.join('; ')}`);
  return parsed.group.alerts;
};

/** All firing alerts of one body are one incident: one subject each, the first one leading. */
export const alertTarget = (alerts: Alert[], cluster: ClusterIdentity): CollectionTarget => {
  const firing = alerts.filter((alert) => alert.status !== 'resolved');
  const relevant = firing.length > 0 ? firing : alerts;
  const subjects = relevant.map((alert) => resolveSubject(alert.labels, cluster.name));
  const unique = new Map(subjects.map((subject) => [JSON.stringify(subject), subject]));
  return { cluster, subjects: [...unique.values()], alerts: relevant };
};
