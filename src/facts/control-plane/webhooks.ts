import type { Series } from '../../domain/facts.ts';
import type { KubeEvent, KubeObject } from '../../domain/kubernetes.ts';
import type { ClusterFacts } from '../cluster.ts';
import { type LogLine, linesLike } from '../logs/log-search.ts';
import { isReady } from '../pods.ts';
import { firstValue, lastValue } from '../series.ts';

/** The API server's words when it cannot get an answer from a webhook; a denial reads otherwise. */
const calling = /failed calling webhook \\?"([^"\\]+)\\?"/;

export interface WebhookFailure {
  name: string;
  events: KubeEvent[];
  lines: LogLine[];
  series: Series[];
}

/** Webhooks that the API server could not call, by name, with every witness. */
export const webhookFailures = (facts: ClusterFacts): WebhookFailure[] => {
  const found = new Map<string, WebhookFailure>();
  const of = (name: string): WebhookFailure => {
    const failure = found.get(name) ?? { name, events: [], lines: [], series: [] };
    found.set(name, failure);
    return failure;
  };
  for (const event of facts.events) {
    const name = calling.exec(event.message)?.[1];
    if (name) of(name).events.push(event);
  }
  for (const entry of linesLike(facts, calling)) of(calling.exec(entry.line)![1]!).lines.push(entry);
  for (const series of facts.series('apiserver_admission_webhook_rejection_count'))
    if (series.labels.error_type === 'calling_webhook_error' && lastValue(series) > firstValue(series))
      of(series.labels.name ?? '').series.push(series);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};

export interface Webhook {
  configuration: KubeObject;
  /** The entry of `webhooks`. */
  entry: any;
  index: number;
}

export const webhooksOf = (facts: ClusterFacts): Webhook[] =>
  [...facts.all('ValidatingWebhookConfiguration'), ...facts.all('MutatingWebhookConfiguration')].flatMap(
    (configuration) =>
      ((configuration.webhooks ?? []) as any[]).map((entry, index) => ({ configuration, entry, index })),
  );

export const webhookNamed = (facts: ClusterFacts, name: string): Webhook | undefined =>
  webhooksOf(facts).find((webhook) => webhook.entry.name === name);

/** Whether a webhook's rules cover a resource: `leases` of `coordination.k8s.io`, with the usual wildcards. */
export const covers = (webhook: Webhook, group: string, resource: string): boolean =>
  ((webhook.entry.rules ?? []) as any[]).some(
    (rule) =>
      (rule.apiGroups ?? []).some((entry: string) => entry === '*' || entry === group) &&
      (rule.resources ?? []).some((entry: string) => entry === '*' || entry === '*/*' || entry === resource),
  );

export interface Backend {
  namespace: string;
  service: string;
  /** Ready and all endpoints; undefined where no EndpointSlice of the service was read. */
  ready: number | undefined;
  total: number;
  slices: KubeObject[];
  pods: KubeObject[];
  /** Deployment or other workload behind the service, from its endpoints or its selector. */
  workload: KubeObject | undefined;
}

/** What stands behind a Service that the API server calls: of a webhook or of an APIService. */
export const backendOf = (
  facts: ClusterFacts,
  service: { namespace?: string; name?: string } | undefined,
): Backend | undefined => {
  if (!service?.name || !service.namespace) return undefined;
  const { namespace, name } = service;
  const slices = facts
    .in('EndpointSlice', namespace)
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name);
  const endpoints: any[] = slices.flatMap((slice) => slice.endpoints ?? []);
  const named = endpoints
    .map((endpoint) => facts.find('Pod', endpoint.targetRef?.name, namespace))
    .filter((pod) => pod !== undefined);
  const selector = facts.find('Service', name, namespace)?.spec?.selector;
  const selected = selector
    ? facts
        .in('Pod', namespace)
        .filter((pod) => Object.entries(selector).every(([key, value]) => pod.metadata.labels?.[key] === value))
    : [];
  const neighbours = facts.in('Pod', namespace).filter((pod) => pod.metadata.name.startsWith(name.split('-')[0]!));
  const pods = selected.length > 0 ? selected : named.length > 0 ? named : neighbours;
  return {
    namespace,
    service: name,
    ready: slices.length > 0 ? endpoints.filter((endpoint) => endpoint.conditions?.ready !== false).length : undefined,
    total: endpoints.length,
    slices,
    pods,
    workload: pods[0] && facts.workloadOf(pods[0]),
  };
};

/** True when what was read shows a healthy backend: ready endpoints, or ready pods where no slice was read. */
export const isServing = (backend: Backend): boolean =>
  backend.ready === undefined ? backend.pods.some(isReady) : backend.ready > 0;

/**
 * Webhooks that fail closed over leases, nodes or pods and whose backend was read and serves nothing: their refusals
 * need no witness, which may have expired.
 */
export const deadWebhooks = (facts: ClusterFacts): Webhook[] =>
  webhooksOf(facts).filter((webhook) => {
    const backend = backendOf(facts, webhook.entry.clientConfig?.service);
    const wide =
      covers(webhook, 'coordination.k8s.io', 'leases') || covers(webhook, '', 'nodes') || covers(webhook, '', 'pods');
    return webhook.entry.failurePolicy !== 'Ignore' && wide && backend?.ready === 0;
  });

/** What puts CA bundles into webhook configurations, beside the backend or cluster-wide. */
export const caInjectors = (facts: ClusterFacts): KubeObject[] =>
  facts.all('Pod').filter((pod) => /ca-?injector|cert-controller|webhook-cert|certgen/.test(pod.metadata.name));
