import type { Strength } from '../../domain/finding.ts';
import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import {
  autoscalersOf,
  type ScalingFailure,
  scalingFailure,
  successorsOf,
  targetOf,
} from '../../facts/capacity/autoscalers.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isReady } from '../../facts/pods.ts';
import { containerOf, containerPath, isInjected, templateSpecOf } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

const missingRequest = /missing request for (\w[\w.-]*)(?: in container (\S+))?(?: of Pod (\S+))?/;

interface Judged {
  owner: Owner;
  strength: Strength;
  because: string;
  step: string;
  root: KubeObject;
  pod?: KubeObject;
  container?: string;
  webhooks?: KubeObject[];
}

export default rule({
  title: 'An autoscaler cannot compute replicas from the pods or metrics it was pointed at',
  lookAlikes: [
    'the metrics API itself is down: every HPA fails',
    'a container without request that is in the template: the app; one that a webhook injected: the platform',
    "a finished test pod that carries the service's label: the app's own chart",
  ],
  judge(facts, scope) {
    return autoscalersOf(facts, scope).flatMap((hpa): FindingDraft[] => {
      const failure = scalingFailure(facts, hpa);
      const judged = failure && judgeFailure(facts, hpa, failure);
      if (!failure || !judged) return [];
      const target = targetOf(facts, hpa);
      const unscaled = target ? [target] : successorsOf(facts, hpa);
      const evidence = cite(judged.owner === 'undetermined' ? 'app' : judged.owner, facts);
      return [
        {
          mechanism: 'scaling-metrics',
          explains: ['application-error', 'load', 'throttling', 'unknown-symptom'],
          owner: judged.owner,
          boundary: 'autoscaling',
          strength: judged.strength,
          cause: text(`${nameOf(hpa)} computes no replicas: ${judged.because}.`),
          root: refOf(judged.root),
          affects: [hpa, ...unscaled.flatMap((workload) => [workload, ...facts.podsOf(workload)])].map(refOf),
          onset:
            condition(hpa, 'ScalingActive')?.lastTransitionTime ?? condition(hpa, 'AbleToScale')?.lastTransitionTime,
          evidence: [
            evidence.condition(
              hpa,
              condition(hpa, 'AbleToScale')?.status === 'False' ? 'AbleToScale' : 'ScalingActive',
            ),
            ...(failure.event ? [evidence.event(failure.event)] : []),
            ...(judged.pod && judged.container
              ? [
                  evidence.field(
                    judged.pod,
                    containerPath(judged.pod, judged.container, 'resources'),
                    JSON.stringify(containerOf(judged.pod, judged.container)?.resources ?? {}),
                    `container ${judged.container}`,
                  ),
                ]
              : []),
            ...(judged.pod
              ? [evidence.field(judged.pod, 'metadata.labels', JSON.stringify(judged.pod.metadata.labels ?? {}))]
              : []),
            ...(judged.webhooks ?? [])
              .slice(0, 2)
              .map((webhook) =>
                evidence.field(
                  webhook,
                  'metadata.creationTimestamp',
                  webhook.metadata.creationTimestamp,
                  JSON.stringify(webhook.metadata.labels ?? {}),
                ),
              ),
            ...(/FailedGetScale/.test(failure.reason) ? [evidence.field(hpa, 'spec.scaleTargetRef')] : []),
            ...(target ? [evidence.field(target, 'spec.selector')] : []),
          ],
          chain: [
            link(judged.root, judged.because),
            ...(judged.pod ? [link(judged.pod, `container ${judged.container ?? ''} has no request`)] : []),
            link(hpa, 'computes no replicas'),
            ...unscaled.map((workload) => link(workload, 'keeps its replicas')),
          ],
          contributing: [],
          nextSteps: [text(judged.step)],
          missing:
            judged.owner === 'undetermined'
              ? [
                  {
                    layer: 'app',
                    missing: 'what the metric should deliver',
                    fix: `kubectl describe hpa ${hpa.metadata.name} -n ${hpa.metadata.namespace}`,
                  },
                ]
              : [],
        },
      ];
    });
  },
});

const judgeFailure = (facts: ClusterFacts, hpa: KubeObject, failure: ScalingFailure): Judged | undefined => {
  const words = `${failure.message} ${failure.event?.message ?? ''}`;
  const owner = ownershipOf(facts, hpa);
  const request = missingRequest.exec(words);
  if (request) return requestMissing(facts, hpa, request);
  if (
    /AmbiguousSelector/.test(failure.reason) ||
    /controlled by multiple HPAs|pods by selector .* are (?:controlled|selected)/.test(words)
  )
    return {
      owner,
      strength: 'direct',
      because: 'several autoscalers select the same pods',
      step: 'Give each workload a selector of its own.',
      root: hpa,
    };
  if (/InvalidSelector|SelectorRequired|selector is required/.test(`${failure.reason} ${words}`))
    return {
      owner,
      strength: 'direct',
      because: 'its target has no valid selector',
      step: 'Correct the selector of the target.',
      root: hpa,
    };
  if (/FailedGetScale/.test(failure.reason)) return scaleUnreadable(facts, hpa, failure, words);
  // No adapter of the cluster serves such metrics at all: nothing the application exports would help.
  if (/no (?:custom|external) metrics API \([\w.]+\) registered/i.test(words))
    return {
      owner: 'platform',
      strength: 'derived',
      because: `the cluster has no adapter for such metrics (${failure.message.slice(0, 160)})`,
      step: 'Install the adapter (prometheus-adapter, KEDA) that serves this API, or follow a resource metric.',
      root: hpa,
    };
  if (
    /no metrics returned from (custom|external|object|pods?) metrics API|metric .* not found|unable to get (?:external|pods|object) metric [^:]+: no (?:matching )?metrics/i.test(
      words,
    ) ||
    (/FailedGet(External|Pods|Object)Metric/.test(failure.reason) &&
      !/unable to handle|could not find the requested resource|connection refused|no such host|timeout/i.test(words))
  )
    return {
      owner,
      strength: 'derived',
      because: `the metric it follows does not exist or is empty (${failure.message.slice(0, 160)})`,
      step: 'Check that the application still exports the metric under this name and these labels.',
      root: hpa,
    };
  const target = targetOf(facts, hpa);
  const ready = target ? facts.podsOf(target).filter(isReady).length : 0;
  if (
    /did not receive metrics for (?:any|targeted) (?:ready )?pods|no metrics returned from resource metrics API/.test(
      words,
    ) &&
    target &&
    ready === 0
  )
    return {
      owner,
      strength: 'circumstantial',
      because: `none of the pods of ${nameOf(target)} is ready, so there is nothing to measure`,
      step: 'Find why the pods are not ready.',
      root: target,
    };
  return undefined;
};

/** The target is gone: whoever wrote the reference. Its kind is unknown or forbidden: who runs the cluster. */
const scaleUnreadable = (
  facts: ClusterFacts,
  hpa: KubeObject,
  failure: ScalingFailure,
  words: string,
): Judged | undefined => {
  const target = `${hpa.spec?.scaleTargetRef?.kind} ${hpa.spec?.scaleTargetRef?.name}`;
  const said = failure.message.slice(0, 160);
  if (/forbidden|no matches for kind|could not find the requested resource/i.test(words))
    return {
      owner: 'platform',
      strength: 'derived',
      because: `the cluster does not let it read or does not know its target ${target} (${said})`,
      step: 'Install the kind it scales, or let the autoscaler read its scale.',
      root: hpa,
    };
  if (/timeout|timed out|etcdserver|connection refused|too many requests|unable to handle/i.test(words))
    return undefined;
  const successors = successorsOf(facts, hpa).map(nameOf);
  return {
    owner: ownershipOf(facts, hpa),
    strength: 'direct',
    because: `its target ${target} ${/not found/.test(words) ? 'does not exist' : 'cannot be read'} (${said})${successors.length > 0 ? `; ${successors.join(', ')}, which no autoscaler names, bears its name` : ''}`,
    step: `Correct scaleTargetRef${successors[0] ? `: it should name ${successors[0]}` : ''}.`,
    root: hpa,
  };
};

const requestMissing = (facts: ClusterFacts, hpa: KubeObject, match: RegExpExecArray): Judged => {
  const [, resource, named, podName] = match;
  const target = targetOf(facts, hpa);
  const namespace = hpa.metadata.namespace ?? '';
  const pod =
    facts.find('Pod', podName, namespace) ??
    (target && facts.podsOf(target).find((entry) => !podName || entry.metadata.name === podName));
  const container = named ?? pod?.spec?.containers?.find((entry: any) => !entry.resources?.requests?.[resource!])?.name;
  const owner = ownershipOf(facts, target ?? hpa);
  const base = { pod, container, root: target ?? hpa };
  if (pod && target && facts.workloadOf(pod) !== target)
    return {
      ...base,
      owner: ownershipOf(facts, pod),
      strength: 'direct',
      because: `its selector also matches ${nameOf(pod)}, which is not a replica of ${nameOf(target)} and whose container ${container} has no ${resource} request`,
      step: `Delete ${nameOf(pod)} (kubectl delete pod ${pod.metadata.name} -n ${namespace}), and give test pods other labels or a ${resource} request.`,
      root: pod,
    };
  if (pod && container && isInjected(facts, pod, container)) {
    const webhooks = facts
      .all('MutatingWebhookConfiguration')
      .sort((a, b) => (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''));
    const likely = webhooks.filter(
      (entry) => JSON.stringify(entry.webhooks ?? '').includes('pods') && sharesName(entry, container, pod),
    );
    const injector = likely[0] ?? webhooks[0];
    return {
      ...base,
      owner: 'platform',
      strength: injector || templateSpecOf(facts, pod) ? 'direct' : 'derived',
      because: `container ${container} has no ${resource} request and is not in the template of ${target ? nameOf(target) : 'its workload'}: ${injector ? `${nameOf(injector)} (of ${injector.metadata.creationTimestamp})` : 'a webhook'} injects it`,
      step: `Set ${resource} requests for the injected container in the injector's configuration, or use a ContainerResource metric that leaves it out.`,
      root: injector ?? target ?? hpa,
      webhooks: injector ? [injector] : [],
    };
  }
  return {
    ...base,
    owner,
    strength: pod ? 'direct' : 'derived',
    because: `container ${container ?? 'of its pods'} declares no ${resource} request, so utilisation has no base`,
    step: `Add resources.requests.${resource} to the container in the template.`,
  };
};

/** The webhook's name and the container or an annotation of the pod share a telling part: dapr, istio, linkerd, vault. */
const sharesName = (webhook: KubeObject, container: string, pod: KubeObject): boolean => {
  const parts = `${webhook.metadata.name} ${(webhook.webhooks ?? []).map((entry: any) => entry.name).join(' ')}`
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part.length > 3);
  const seen =
    `${container} ${Object.keys({ ...pod.metadata.annotations, ...pod.metadata.labels }).join(' ')}`.toLowerCase();
  return parts.some((part) => !/sidecar|inject|webhook|config/.test(part) && seen.includes(part));
};
