import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { isFinished, podSpecOf } from '../../facts/pods.ts';
import type { Scope } from '../../facts/scope.ts';
import { selects } from '../../facts/selectors.ts';
import { sleepOf } from '../../facts/workloads/schedules.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

export default rule({
  title:
    'A Service has no endpoints because of what it asks for: labels no pod has, a port no container has, or a workload scaled to zero',
  lookAlikes: [
    'endpoints exist and none is ready: the pods, not the Service',
    'a Service without selector: its endpoints are kept elsewhere',
    'a workload that a schedule puts to sleep: expected',
  ],
  judge(facts, scope) {
    return servicesInScope(facts, scope).flatMap((service) => {
      const labels = service.spec?.selector;
      if (!labels || service.spec?.type === 'ExternalName') return [];
      const namespace = service.metadata.namespace ?? '';
      const pods = facts.in('Pod', namespace).filter((pod) => !isFinished(pod));
      const chosen = pods.filter((pod) => selects({ matchLabels: labels }, pod.metadata.labels));
      const templates = ['Deployment', 'StatefulSet', 'DaemonSet'].flatMap((kind) => facts.in(kind, namespace));
      const wanted = templates.filter((workload) =>
        selects({ matchLabels: labels }, workload.spec?.template?.metadata?.labels),
      );
      const fault =
        chosen.length > 0
          ? wrongPort(service, chosen[0]!)
          : wanted.length > 0
            ? scaledToZero(facts, wanted[0]!)
            : wrongLabels(facts, service, labels, templates);
      return fault ? [serviceFinding(facts, scope, service, fault)] : [];
    });
  },
});

const servicesInScope = (facts: ClusterFacts, scope: Scope): KubeObject[] => {
  const names = new Set(scope.subjects.map((subject) => `${subject.namespace}/${subject.name}`));
  const related = new Set(scope.pods.flatMap((pod) => facts.servicesOf(pod)));
  return facts
    .all('Service')
    .filter(
      (service) =>
        !scope.wide && (related.has(service) || names.has(`${service.metadata.namespace}/${service.metadata.name}`)),
    );
};

interface Fault {
  because: string;
  root: KubeObject;
  field: string;
  step: string;
  workload?: KubeObject;
}

const wrongPort = (service: KubeObject, pod: KubeObject): Fault | undefined => {
  const names = new Set(
    (podSpecOf(pod).containers ?? []).flatMap((container: any) =>
      (container.ports ?? []).map((port: any) => port.name),
    ),
  );
  const wrong = (service.spec?.ports ?? []).find(
    (port: any) => typeof port.targetPort === 'string' && !/^\d+$/.test(port.targetPort) && !names.has(port.targetPort),
  );
  return wrong
    ? {
        because: `its targetPort "${wrong.targetPort}" is a name that no container of ${nameOf(pod)} declares`,
        root: service,
        field: 'spec.ports',
        step: 'Correct targetPort, or name the container port.',
      }
    : undefined;
};

const scaledToZero = (facts: ClusterFacts, workload: KubeObject): Fault | undefined => {
  if (workload.spec?.replicas !== 0 || sleepOf(facts, workload)) return undefined;
  const writer = lastWriter(workload, 'f:replicas');
  return {
    because: `${nameOf(workload)} behind it is scaled to 0${writer ? ` (by ${writer.manager} at ${writer.time})` : ''}`,
    root: workload,
    field: 'spec.replicas',
    step: `kubectl scale ${workload.kind.toLowerCase()}/${workload.metadata.name} -n ${workload.metadata.namespace} --replicas=<n>`,
    workload,
  };
};

/** The workload whose labels come nearest to what the Service asks for, or that bears its name. */
const wrongLabels = (
  facts: ClusterFacts,
  service: KubeObject,
  labels: Record<string, string>,
  templates: KubeObject[],
): Fault | undefined => {
  const shared = (workload: KubeObject): number =>
    Object.entries(labels).filter(([key, value]) => workload.spec?.template?.metadata?.labels?.[key] === value).length;
  const near = [...templates]
    .sort((a, b) => shared(b) - shared(a))
    .find((workload) => shared(workload) > 0 || workload.metadata.name === service.metadata.name);
  if (!near || !facts.wasRead('pods')) return undefined;
  return {
    because: `its selector ${JSON.stringify(labels)} matches no pod; ${nameOf(near)} labels its pods ${JSON.stringify(near.spec?.template?.metadata?.labels ?? {})}`,
    root: service,
    field: 'spec.selector',
    step: 'Make the selector of the Service and the labels of the template agree.',
    workload: near,
  };
};

const serviceFinding = (facts: ClusterFacts, scope: Scope, service: KubeObject, fault: Fault): FindingDraft => {
  const owner = ownershipOf(facts, fault.root);
  const evidence = cite(owner, facts);
  const slices = facts
    .in('EndpointSlice', service.metadata.namespace ?? '')
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name);
  return {
    mechanism: 'application-error',
    explains: ['unknown-symptom', 'dependency', 'rollout'],
    owner,
    boundary: 'config',
    strength: 'direct',
    cause: text(`${nameOf(service)} has no endpoints: ${fault.because}.`),
    root: refOf(fault.root),
    affects: [service, ...scope.workloads, ...(fault.workload ? [fault.workload] : [])].map(refOf),
    evidence: [
      evidence.field(fault.root, fault.field),
      evidence.field(service, 'spec.selector'),
      ...(fault.workload ? [evidence.field(fault.workload, 'spec.template.metadata.labels')] : []),
      ...slices
        .slice(0, 1)
        .map((slice) => evidence.field(slice, 'endpoints', `${(slice.endpoints ?? []).length} endpoints`)),
    ],
    chain: [link(fault.root, fault.because), link(service, 'no endpoints')],
    contributing: [],
    nextSteps: [
      text(fault.step),
      text(
        `kubectl get endpointslices -n ${service.metadata.namespace} -l kubernetes.io/service-name=${service.metadata.name}`,
      ),
    ],
  };
};
