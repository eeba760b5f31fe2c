import { webhooksOf } from '../../facts/control-plane/webhooks.ts';
import { resources } from '../resources.ts';
import type { Collection } from './collection.ts';

/** Namespaces whose endpoints are read; clusters with more admission services than that are rare. */
const maxNamespaces = 12;

/** The Services that the API server itself calls, for admission and aggregation: are there endpoints behind them? */
export const collectBackends = async (collection: Collection): Promise<void> => {
  const facts = collection.view();
  const services = [
    ...webhooksOf(facts).map((webhook) => webhook.entry.clientConfig?.service),
    ...facts.all('APIService').map((service) => service.spec?.service),
  ];
  const namespaces = [...new Set(services.map((service) => service?.namespace).filter(Boolean))].slice(
    0,
    maxNamespaces,
  );
  await Promise.all(
    namespaces.flatMap((namespace: string) => [
      collection.list(resources.endpointslices, { namespace }),
      collection.list(resources.services, { namespace }),
    ]),
  );
};
