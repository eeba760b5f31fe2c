import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import type { Owner } from '../../domain/layer.ts';
import { text } from '../../domain/text.ts';
import { link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { condition } from '../../facts/conditions.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { rule } from '../../triage/rule.ts';

/** What an issuer says, and whose doing it is: what was asked for, or what the issuer itself is allowed. */
const reasons: { pattern: RegExp; whose: 'asker' | 'issuer' | 'open'; says: string }[] = [
  {
    pattern: /too many certificates[^\n]*exact set|duplicate certificate/i,
    whose: 'asker',
    says: 'the same certificate was asked for too often',
  },
  {
    pattern: /too many (certificates|new orders|registrations)|rateLimited/i,
    whose: 'open',
    says: 'the authority’s limit is used up',
  },
  {
    pattern: /rejectedIdentifier|invalid (dns|domain) name|malformed|forbidden by policy/i,
    whose: 'asker',
    says: 'a name in it is refused',
  },
  {
    pattern:
      /AccessDenied|not authorized|unauthorized|\b403\b|invalid (api )?(token|credentials)|account does not exist/i,
    whose: 'issuer',
    says: 'the issuer’s credentials are refused',
  },
];

export default rule({
  title: 'A certificate is not issued: the authority refuses what was asked, or the issuer',
  lookAlikes: ['a certificate in issue since minutes: not yet', 'cert-manager’s webhook is unreachable: the platform'],
  judge(facts, scope) {
    return facts
      .all('Certificate')
      .filter(
        (certificate) => condition(certificate, 'Ready')?.status === 'False' && isAsked(facts, certificate, scope),
      )
      .flatMap((certificate) => {
        const issuing = condition(certificate, 'Issuing');
        const event = facts
          .eventsAbout(certificate)
          .filter((entry) => entry.type === 'Warning')
          .at(-1);
        const said = `${issuing?.message ?? ''} ${event?.message ?? ''}`;
        const reason = reasons.find((entry) => entry.pattern.test(said));
        if (!reason) return [];
        const owner = ownerOf(facts, certificate, reason.whose);
        const evidence = cite(owner === 'undetermined' ? 'platform' : owner, facts);
        return [
          {
            mechanism: 'certificate' as const,
            explains: ['unknown-symptom' as const, 'rollout' as const],
            owner,
            boundary: 'config' as const,
            strength: owner === 'undetermined' ? ('circumstantial' as const) : ('derived' as const),
            cause: text(
              `${nameOf(certificate)} is not issued because ${reason.says}: “${(event?.message ?? issuing?.message ?? '').slice(-220)}”.`,
            ),
            root: refOf(certificate),
            affects: [
              certificate,
              ...scope.workloads.filter((it) => it.metadata.namespace === certificate.metadata.namespace),
            ].map(refOf),
            onset: issuing?.lastTransitionTime,
            evidence: [
              ...(event ? [evidence.event(event)] : []),
              ...(issuing ? [evidence.condition(certificate, 'Issuing')] : []),
              evidence.condition(certificate, 'Ready'),
            ],
            chain: [link(certificate, reason.says)],
            missing:
              owner === 'undetermined'
                ? [
                    {
                      layer: 'platform' as const,
                      missing: 'who used up the limit',
                      fix: 'kubectl get certificaterequests,orders -A --sort-by=.metadata.creationTimestamp',
                    },
                  ]
                : [],
            nextSteps: [
              text(
                `kubectl describe certificate ${certificate.metadata.name} -n ${certificate.metadata.namespace}; kubectl get orders -n ${certificate.metadata.namespace}`,
              ),
            ],
          },
        ];
      });
  },
});

const isAsked = (facts: ClusterFacts, certificate: KubeObject, scope: { namespaces: string[] }): boolean => {
  const alerted = facts.alerts.some(
    (alert) =>
      Object.values(alert.labels).includes(certificate.metadata.name) ||
      /certificate|\bTLS\b|https/i.test(JSON.stringify(alert.annotations)),
  );
  return alerted && scope.namespaces.includes(certificate.metadata.namespace ?? '');
};

const ownerOf = (facts: ClusterFacts, certificate: KubeObject, whose: 'asker' | 'issuer' | 'open'): Owner => {
  if (whose === 'open') return 'undetermined';
  const shared = /^(Cluster|AWSPCACluster|GoogleCASCluster)/.test(certificate.spec?.issuerRef?.kind ?? 'Issuer');
  return whose === 'issuer' && shared ? 'platform' : ownershipOf(facts, certificate);
};
