import { configMapNames, resources } from '../resources.ts';
import type { Candidate } from './plan.ts';
import type { Situation } from './situation.ts';

const dnsWords = /\bdns\b|lookup|resolv|name resolution|NXDOMAIN|SERVFAIL|no such host|coredns|kube-dns/i;
const addressWords = /FailedCreatePodSandBox|assign an IP|ipamd|network plugin|\bcni\b|\beni\b|address/i;
const joinWords = /unauthorized|not registered|NotRegistered|failed to join|NodeNotInitialized|bootstrap|aws-auth/i;

/** Words of an incident that make each worth its call. */
const words: Record<(typeof configMapNames)[number], RegExp> = {
  'amazon-vpc-cni': addressWords,
  'aws-auth': joinWords,
  'cluster-autoscaler-status':
    /TriggerScaleUp|scale.?up|autoscaler|pending|FailedScheduling|Insufficient|unschedulable/i,
  coredns: dnsWords,
  'coredns-custom': dnsWords,
  'kube-dns': dnsWords,
  'node-local-dns': dnsWords,
  'eci-profile': /\beci\b|virtual-kubelet|virtual node/i,
  'gke-common-webhook-heartbeat': /webhook.*gke|gke.*webhook/i,
};

/** Where another autoscaler makes the nodes, the Cluster Autoscaler has no status to tell. */
const isTold = (name: keyof typeof words, { facts, says }: Situation): number =>
  name === 'cluster-autoscaler-status' && facts.all('NodePool').length > 0 ? 0 : says(words[name]);

/** ConfigMaps of kube-system by name. */
export const configMaps: Candidate[] = configMapNames.map((name, index) => ({
  resource: resources.configmaps,
  wave: 2,
  where: () => [{ namespace: 'kube-system', name }],
  worth: (situation) => (44 - index) * isTold(name, situation),
}));
