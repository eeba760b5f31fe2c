import { refOf } from '../../domain/kubernetes.ts';
import { text } from '../../domain/text.ts';
import { link } from '../../facts/chain.ts';
import { cite } from '../../facts/cite.ts';
import { lastPerPod, linesLike } from '../../facts/logs/log-search.ts';
import { harmedBy, names } from '../../facts/nodes/node-group.ts';
import { isNotReady, isSilent, silentSince } from '../../facts/nodes/nodes.ts';
import { lastValue } from '../../facts/series.ts';
import { earliest } from '../../facts/time.ts';
import { rule } from '../../triage/rule.ts';

/** The API server refuses a client certificate that has run out. */
const refused = /Unable to authenticate the request.*certificate has expired/;
/** The kubelet's side of it, in its own words or a node check's. */
const expired =
  /kubelet.*(Unauthorized|certificate has expired|x509: )|notAfter=.*(rotateCertificates=false|expired)|certificate_manager.*(expired|Failed while requesting a signed certificate)/i;

export default rule({
  title: 'Nodes fall silent because the client certificates of their kubelets ran out',
  lookAlikes: [
    'the host is dead or cut off: nothing is refused',
    'clients do not trust the API server: its certificate, not theirs',
  ],
  judge(facts, scope) {
    const ill = facts.all('Node').filter(isNotReady);
    const nodes = ill.filter((node) => scope.wide || scope.nodes.includes(node) || scope.subjectNodes.includes(node));
    if (nodes.length === 0) return [];
    const refusals = linesLike(facts, refused);
    const lost = new Set(ill.map((node) => node.metadata.name));
    const told = linesLike(facts, expired).filter(({ log }) =>
      lost.has(facts.find('Pod', log.pod, log.namespace)?.spec?.nodeName),
    );
    const gauges = facts
      .seriesLike(/^kubelet_certificate_manager_client_(ttl_seconds|expiration_seconds)$/)
      .filter((series) =>
        /ttl/.test(series.name) ? lastValue(series) <= 0 : lastValue(series) * 1000 < Date.parse(facts.now),
      );
    const silent = ill.filter(isSilent);
    if (refusals.length + told.length + gauges.length === 0 || (silent.length === 0 && told.length === 0)) return [];
    const evidence = cite('platform', facts);
    return [
      {
        mechanism: 'certificate',
        explains: [
          'node-silent',
          'node-not-joining',
          'probe',
          'eviction',
          'unknown-symptom',
          'volume',
          'pending',
          'zone-outage',
        ],
        owner: 'platform',
        boundary: 'node',
        strength: told.length + gauges.length > 0 ? 'direct' : 'derived',
        cause: text(
          `${ill.length} nodes (${names(ill)}) are lost to the API server, which refuses expired client certificates: their kubelets' certificates ran out and were not rotated.`,
        ),
        root: refOf(ill[0]!),
        affects: harmedBy(facts, ill),
        onset: earliest(...silent.map((node) => silentSince(facts, node))),
        evidence: [
          ...lastPerPod(refusals)
            .slice(0, 2)
            .map((entry) => evidence.log(entry.log, entry.line)),
          ...told.slice(0, 3).map((entry) => evidence.log(entry.log, entry.line)),
          ...gauges.slice(0, 1).map((series) => evidence.series(series, `${lastValue(series)}`)),
          ...ill.slice(0, 2).map((node) => evidence.condition(node, 'Ready')),
        ],
        chain: ill.slice(0, 3).map((node) => link(node, 'its client certificate has expired')),
        nextSteps: [
          text(
            'On each node: openssl x509 -enddate -noout -in /var/lib/kubelet/pki/kubelet-client-current.pem; make a new bootstrap token (kubeadm token create), remove the old certificate, restart the kubelet.',
          ),
          text(
            'Set rotateCertificates: true in the kubelet configuration, and watch KubeletClientCertificateExpiration.',
          ),
        ],
      },
    ];
  },
});
