import { describeSubject } from './domain/alert.ts';
import type { LayerFacts } from './domain/facts.ts';
import type { IncidentRecord } from './domain/view.ts';
import { caseFiles } from './evidence/snapshot-writer/case-files.ts';

/**
 * A stored incident as an incident folder, by path: what its triages read, redacted as it was stored. Where a person
 * corrected the owner, the right one is the answer that `eval` then asks for. Null: nothing of it was read yet.
 */
export const incidentCase = (record: IncidentRecord, facts: LayerFacts[]): Map<string, string> | null => {
  const newest = facts.toSorted((a, b) => a.readAt.localeCompare(b.readAt)).at(-1);
  if (!newest) return null;
  const { incident } = record;
  const { files } = caseFiles({
    id: `incident-${incident.id}`,
    title: `${incident.title}: ${describeSubject(incident.subject)}`,
    cluster: newest.cluster,
    capturedAt: newest.readAt,
    alert: webhookBody(record),
    facts,
  });
  const answer = expectedOf(record);
  if (!answer) return files;
  const described = { ...JSON.parse(files.get('case.json')!), expected: answer };
  return files.set('case.json', `${JSON.stringify(described, null, 1)}\n`);
};

const expectedOf = ({ handOff, verdict }: IncidentRecord) =>
  handOff?.corrects
    ? {
        owner: handOff.to,
        must_not_blame:
          verdict && verdict.owner !== handOff.to && verdict.owner !== 'undetermined' ? [verdict.owner] : [],
        why: handOff.why,
      }
    : null;

/** The alerts as Alertmanager would send them in one body. */
const webhookBody = ({ alerts, incident, externalURL }: IncidentRecord) => ({
  version: '4',
  groupKey: `{}:{alertname="${incident.title}"}`,
  truncatedAlerts: incident.truncatedAlerts,
  status: alerts.some(({ status }) => status === 'firing') ? 'firing' : 'resolved',
  receiver: 'faultline',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL,
  alerts: alerts.map(({ incidentId, receivedAt, ...alert }) => alert),
});
