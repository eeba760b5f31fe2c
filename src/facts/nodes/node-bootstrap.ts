import type { Evidence } from '../../domain/evidence.ts';
import type { KubeObject } from '../../domain/kubernetes.ts';
import { cite } from '../cite.ts';
import type { ClusterFacts } from '../cluster.ts';
import { accessOf } from './access-entries.ts';

export interface BootstrapFault {
  says: string;
  fix: string;
  evidence: Evidence[];
}

/** Image families by the names that vendors give their images. */
const families: [string, RegExp][] = [
  ['Bottlerocket', /bottlerocket/i],
  ['AL2023', /al2023|amazon-eks-node-al2023/i],
  ['AL2', /amazon-eks-(node|arm64-node|gpu-node)-(?!al2023)|al2[-_]x86|amzn2/i],
  ['Windows', /windows/i],
  ['Ubuntu', /ubuntu/i],
];

/** Words of user data that make a machine join: without one of them a Custom image must do it by itself. */
const bootstraps =
  /bootstrap\.sh|nodeadm|NodeConfig|node\.eks\.aws|settings\.kubernetes|kubeadm join|eks\/bootstrap|kubelet.{0,80}--kubeconfig/i;

/** What in a NodeClass keeps its machines from joining, as far as its own fields and the access entries tell. */
export const bootstrapFaultOf = (facts: ClusterFacts, nodeClass: KubeObject): BootstrapFault | undefined =>
  familyMismatch(facts, nodeClass) ?? noBootstrap(facts, nodeClass) ?? noAccess(facts, nodeClass);

const familyMismatch = (facts: ClusterFacts, nodeClass: KubeObject): BootstrapFault | undefined => {
  const family: string | undefined = nodeClass.spec?.amiFamily;
  const amis: any[] = nodeClass.status?.amis ?? [];
  if (!family || family === 'Custom') return undefined;
  const strange = amis.find((ami) => {
    const actual = families.find(([, pattern]) => pattern.test(ami.name ?? ''))?.[0];
    return actual !== undefined && !family.startsWith(actual) && actual !== family;
  });
  if (!strange) return undefined;
  const evidence = cite('platform', facts);
  return {
    says: `it renders user data for amiFamily ${family}, but its image is ${strange.name}`,
    fix: `Let image and family of ${nodeClass.kind} ${nodeClass.metadata.name} agree: set amiFamily to the image’s, or select a ${family} image.`,
    evidence: [evidence.field(nodeClass, 'spec.amiFamily'), evidence.field(nodeClass, 'status.amis')],
  };
};

const noBootstrap = (facts: ClusterFacts, nodeClass: KubeObject): BootstrapFault | undefined => {
  const { amiFamily, userData = '' } = nodeClass.spec ?? {};
  if (amiFamily !== 'Custom' || bootstraps.test(userData)) return undefined;
  const evidence = cite('platform', facts);
  return {
    says: `amiFamily Custom leaves the bootstrap to user data, and ${userData ? 'its user data never bootstraps the node' : 'it has no user data'}`,
    fix: `Add the bootstrap (nodeadm NodeConfig or bootstrap.sh) to the user data of ${nodeClass.kind} ${nodeClass.metadata.name}, or return to a managed amiFamily.`,
    evidence: [evidence.field(nodeClass, 'spec.amiFamily'), evidence.field(nodeClass, 'spec.userData', userData)],
  };
};

const noAccess = (facts: ClusterFacts, nodeClass: KubeObject): BootstrapFault | undefined => {
  const role: string | undefined = nodeClass.spec?.role;
  const mapRoles: string | undefined = facts.find('ConfigMap', 'aws-auth', 'kube-system')?.data?.mapRoles;
  if (!role || (mapRoles ?? '').includes(role)) return undefined;
  const access = accessOf(facts, role);
  if (access.state !== 'missing' && access.state !== 'wrong-type') return undefined;
  const evidence = cite('platform', facts);
  return {
    says: `node role ${role} has ${access.state === 'missing' ? 'no access entry' : `an access entry of type ${access.type}`}, so the API server refuses its kubelets`,
    fix: `Create an access entry of type EC2_LINUX for role ${role}, or map it in aws-auth.`,
    evidence: [
      evidence.field(nodeClass, 'spec.role'),
      evidence.aws('eks.listAccessEntries', 'accessEntries', access.entries),
    ],
  };
};
