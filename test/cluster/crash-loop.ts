import type { KubeObject } from '../../src/domain/kubernetes.ts';
import { lastWords } from './triage-check.ts';

/** Any image with a POSIX shell. */
const image = process.env.FAULTLINE_TEST_IMAGE ?? 'busybox:1.36';

/** A pod that Pod Security's `restricted` level admits, and that ends at once with a reason in its log. */
export const crashLoopPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'app',
        image,
        command: ['sh', '-c', `${lastWords.map((line) => `echo '${line}'`).join('; ')}; exit 1`],
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '100m', memory: '32Mi' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
});

/** The kubelet backs off after the second end: from then on there is a former log and an event. */
export const isCrashLooping = (pod: KubeObject): boolean =>
  pod.status?.containerStatuses?.some(
    (status: any) => status.restartCount > 1 && status.state?.waiting?.reason === 'CrashLoopBackOff',
  ) ?? false;
