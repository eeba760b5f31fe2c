import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { condition } from '../../facts/conditions.ts';
import { backendOf } from '../../facts/control-plane/webhooks.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { lastWriter } from '../../facts/writers.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/** The aggregator's words, old and new: `failing or missing response from https://…: Get "…": x509: …`. */
const untrusted =
  /x509: [^"\n]*|tls: (?:failed to verify|bad)[^"\n]*|certificate (?:has expired|signed by unknown)[^"\n]*/;
const metricsGroup = /(^|\.)metrics\.k8s\.io$/;

export default rule({
  title:
    'The API server does not trust what serves an aggregated API: its certificate expired or its caBundle is another’s',
  lookAlikes: [
    'nothing serves behind the APIService: its pods',
    'a timeout: the way from the control plane',
    'x509 in a webhook call: the webhook’s own certificate',
  ],
  judge(facts) {
    return facts.all('APIService').flatMap((service): FindingDraft[] => {
      const available = condition(service, 'Available');
      const words = untrusted.exec(available?.message ?? '')?.[0];
      if (available?.status !== 'False' || !words || !service.spec?.service) return [];
      const backend = backendOf(facts, service.spec.service);
      const where = `${service.spec.service.namespace}/${service.spec.service.name}`;
      const object = backend?.workload ?? {
        kind: 'Service',
        metadata: { name: service.spec.service.name, namespace: service.spec.service.namespace },
      };
      const owner = ownershipOf(facts, object);
      const evidence = cite(owner, facts);
      const certificates = facts
        .in('Certificate', service.spec.service.namespace ?? '')
        .filter((certificate) =>
          JSON.stringify(certificate.spec?.dnsNames ?? []).includes(service.spec.service.name ?? '-'),
        );
      const writer = lastWriter(service, 'f:caBundle');
      const metrics = metricsGroup.test(service.spec.group ?? '');
      return [
        {
          mechanism: 'controller-down',
          explains: [
            'scaling-metrics',
            'scaling-limit',
            'control-plane',
            'tunnel',
            'unknown-symptom',
            'rollout',
            'certificate',
          ],
          owner,
          boundary: metrics ? 'autoscaling' : 'control-plane',
          strength: 'direct',
          cause: text(
            `Aggregated API ${service.metadata.name} is unavailable because the API server refuses the certificate of Service ${where} (${words.slice(0, 200)}).`,
          ),
          root: refOf(object),
          affects: [
            refOf(service),
            refOf(object),
            ...(metrics ? facts.all('HorizontalPodAutoscaler').map(refOf) : []),
            { kind: 'Cluster', name: facts.identity.name },
          ],
          onset: available.lastTransitionTime,
          evidence: [
            evidence.condition(service, 'Available'),
            evidence.field(
              service,
              'spec.caBundle',
              service.spec.caBundle ? `set, last written by ${writer?.manager ?? 'unknown'}` : 'absent',
              writer?.time ?? '',
            ),
            ...certificates.slice(0, 1).map((certificate) => evidence.condition(certificate, 'Ready')),
            ...certificates.slice(0, 1).map((certificate) => evidence.field(certificate, 'status.notAfter')),
          ],
          chain: [
            link(object, 'serves a certificate that is refused'),
            link(service, available.reason ?? 'unavailable'),
          ],
          nextSteps: [
            text(
              `Renew the serving certificate of ${where}, restart its pods so that they load it, and put its authority into spec.caBundle of APIService ${service.metadata.name}.`,
            ),
          ],
        },
      ];
    });
  },
});
