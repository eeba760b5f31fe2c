import { type KubeObject, refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { groupBy, link, nameOf } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import type { ClusterFacts } from '../../facts/cluster.ts';
import { grep, loggedPods, type PodLogLine } from '../../facts/logs/pod-logs.ts';
import { ownershipOf } from '../../facts/ownership.ts';
import { podSpecOf } from '../../facts/pods.ts';
import { earliest, minutesBetween } from '../../facts/time.ts';
import { isInjected } from '../../facts/workloads/workloads.ts';
import { type FindingDraft, rule } from '../../triage/rule.ts';

/**
 * TLS alerts that the other side sends about the certificate it was shown (RFC 8446, section 6.2), as Go, OpenSSL,
 * Java and rustls word them. A check of one's own ("certificate has expired") speaks of the other side's certificate.
 */
const refused =
  /remote error: tls: (?:expired|revoked|bad|unknown|unsupported) certificate|alert (?:certificate (?:expired|revoked|unknown)|bad certificate)\b|received fatal alert: (?:certificate_(?:expired|revoked|unknown)|bad_certificate)|AlertReceived\((?:CertificateExpired|CertificateRevoked|BadCertificate)\)/i;
/** A server to whom its clients say so: the certificate is a server's, and whoever calls may trust the wrong authority. */
const serves = /handshake error from|error (?:accepting|serving)|SSL_accept/i;
const ended = /notAfter[=: ]+"?(\d{4}-\d\d-\d\dT[\d:.]+Z)/i;
const peer = /(?:https?:\/\/|\bto |host[=: ]+"?)([\w-]+(?:\.[\w-]+)+)/;
const recentMinutes = 120;

export default rule({
  title: 'The other side refuses the client certificate that an application shows: it has expired or was withdrawn',
  lookAlikes: [
    'the other side’s certificate has expired: one’s own check says so, no alert comes back',
    'callers of several namespaces are refused: whoever issues their certificates, or the other side',
    'a server whose clients refuse its certificate: “TLS handshake error from …”',
    'a proxy put into the pod shows the certificate: the mesh',
  ],
  judge(facts, scope) {
    if (scope.wide) return [];
    const all = loggedPods(facts).flatMap((pod) =>
      grep(facts, [pod], refused)
        .filter((line) => !serves.test(line.text))
        .filter((line) => !(minutesBetween(line.at, facts.now) > recentMinutes))
        .map((line) => ({ pod, line })),
    );
    if (new Set(all.map(({ pod }) => pod.metadata.namespace)).size > 1) return [];
    const own = all.filter(({ pod, line }) => scope.has(refOf(pod)) && !isInjected(facts, pod, line.log.container));
    return groupBy(own, ({ pod }) => nameOf(facts.workloadOf(pod))).flatMap((group) => findingOf(facts, group));
  },
});

const findingOf = (facts: ClusterFacts, group: { pod: KubeObject; line: PodLogLine }[]): FindingDraft[] => {
  const { pod, line } = group.at(-1)!;
  const workload = facts.workloadOf(pod);
  const secrets = ((podSpecOf(pod).volumes ?? []) as any[])
    .map((volume) => volume.secret?.secretName as string | undefined)
    .filter((name) => name !== undefined);
  const issued = facts
    .in('Certificate', pod.metadata.namespace ?? '')
    .find((certificate) => secrets.includes(certificate.spec?.secretName));
  const host = peer.exec(line.text)?.[1];
  const over = grep(facts, [...new Set(group.map((entry) => entry.pod))], ended).findLast(
    (entry) => minutesBetween(ended.exec(entry.text)![1]!, facts.now) > 0,
  );
  const served = host && acceptedElsewhere(facts, host, pod.metadata.namespace);
  // What cert-manager keeps is renewed by it: that it was not, or was not read again, has to be looked at first.
  const owner = issued ? ('undetermined' as const) : ownershipOf(facts, workload);
  const evidence = cite(owner === 'undetermined' ? 'app' : owner, facts);
  return [
    {
      mechanism: 'certificate',
      explains: ['application-error', 'dependency', 'crash', 'probe', 'unknown-symptom'],
      owner,
      boundary: 'config',
      strength: issued ? 'circumstantial' : over || served ? 'direct' : 'derived',
      cause: text(
        `${host ?? 'The other side'} refuses the client certificate of ${nameOf(workload)}: "${line.text.replace(/^\S+Z\s+/, '').slice(0, 160)}"${over ? `; it ended at ${ended.exec(over.text)![1]}` : ''}${secrets[0] ? `; it comes from Secret ${pod.metadata.namespace}/${secrets.join(', ')}` : ''}${served ? `; ${nameOf(served.workload)} reaches ${host}` : ''}.`,
      ),
      root: refOf(workload),
      affects: [workload, ...new Set(group.map((entry) => entry.pod)), ...facts.servicesOf(pod)].map(refOf),
      onset: earliest(...group.map((entry) => entry.line.at)),
      evidence: [
        evidence.log(line.log, line.text),
        evidence.log(group[0]!.line.log, group[0]!.line.text),
        ...(over ? [evidence.log(over.log, over.text)] : []),
        ...(secrets[0] ? [evidence.field(workload, 'spec.template.spec.volumes', secrets.join(', '))] : []),
        ...(served ? [evidence.log(served.line.log, served.line.text)] : []),
      ],
      chain: [link(workload, `shows a certificate that ${host ?? 'the other side'} refuses`)],
      nextSteps: [
        text(
          `kubectl get secret ${secrets[0] ?? '<its secret>'} -n ${pod.metadata.namespace} -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -dates -subject; renew it and restart what holds the old one.`,
        ),
      ],
      missing: issued
        ? [
            {
              layer: 'app',
              missing: `whether ${nameOf(workload)} has read the renewed certificate`,
              fix: `kubectl describe certificate ${issued.metadata.name} -n ${issued.metadata.namespace}; compare its renewal with the start of the pods`,
            },
          ]
        : [],
    },
  ];
};

/** Another namespace's caller to whom the same host answers well. */
const acceptedElsewhere = (facts: ClusterFacts, host: string, namespace: string | undefined) =>
  facts
    .all('Pod')
    .filter((pod) => pod.metadata.namespace !== namespace)
    .flatMap((pod) =>
      grep(facts, [pod], /accepted|\b20[0-4]\b|\bOK\b|succe/i)
        .filter((line) => line.text.includes(host) && !/error|fail|refus/i.test(line.text))
        .map((line) => ({ workload: facts.workloadOf(pod), line })),
    )
    .at(-1);
