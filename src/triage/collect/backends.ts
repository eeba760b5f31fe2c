import { webhooksOf } from '../../facts/control-plane/webhooks.ts';
import { resources } from '../resources.ts';
import type { Candidate, Place } from './plan.ts';
import type { Situation } from './situation.ts';

/** Namespaces whose endpoints are read; clusters with more admission services than that are rare. */
const maxNamespaces = 12;

/**
 * Where the Services live that the API server itself calls, for admission and aggregation; first those that the
 * incident speaks of.
 */
const calledByServer = ({ facts, says }: Situation): Place[] => {
  const services = [
    ...webhooksOf(facts).map((webhook) => webhook.entry.clientConfig?.service),
    ...facts.all('APIService').map((service) => service.spec?.service),
  ].filter((service) => service?.namespace);
  const isNamed = (service: any): number => says(new RegExp(escaped(`${service.name}.${service.namespace}`)));
  const ordered = services.toSorted((a, b) => isNamed(b) - isNamed(a));
  return [...new Set<string>(ordered.map((service) => service.namespace))]
    .slice(0, maxNamespaces)
    .map((namespace) => ({ namespace }));
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Are there endpoints behind the Services that the API server itself calls? */
export const backends: Candidate[] = [
  { resource: resources.endpointslices, wave: 3, where: calledByServer, worth: () => 60 },
  { resource: resources.services, wave: 3, where: calledByServer, worth: () => 50 },
];
