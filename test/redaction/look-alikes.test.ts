import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redact } from '../../src/redaction/redact.ts';
import { redactText } from '../../src/redaction/text.ts';

const readable: [string, string][] = [
  [
    'image digest',
    'registry.example.com/shop/api@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
  [
    'layer digest',
    'failed to pull layer sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  ],
  ['image tag', 'shop/api:v1.24.3-20261120.083000-9fceb02'],
  ['git hash', 'deployed 9fceb02d0ae598e95dc970b74767f19372d61af8 by argocd'],
  ['uid', 'pod uid 6f1d2c3b-8c1e-4c55-9d37-0f0a5d6b7c8d'],
  ['container id', 'containerd://0b5b1f3d7f4b5f6a1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899'],
  ['resourceVersion', 'resourceVersion: "884213907"'],
  ['pod-template-hash', 'pod-template-hash=7d9c6b8f5d'],
  ['ARN', 'arn:aws:iam::123456789012:role/karpenter-node-prod-use1'],
  ['secret ARN', 'secretArn: arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-AbCdEf'],
  ['instance id', 'aws:///us-east-1a/i-0abc123def4567890'],
  ['volume and network ids', 'vol-0123456789abcdef0 eni-0123456789abcdef0 subnet-0a1b2c3d4e5f60718'],
  ['request id', 'api error UnauthorizedOperation, RequestID: 7b1f2c3d-1111-4222-8333-94445555aaaa'],
  ['time', '2026-11-20T08:30:00.123456789Z'],
  ['node name', 'ip-10-0-12-34.us-west-2.compute.internal'],
  ['address and port', 'dial tcp 10.100.23.4:5432: connect: connection refused'],
  ['plain url', 'https://prometheus.monitoring.svc:9090/graph?g0.expr=up&g0.range=1h'],
  ['url with a port and an address', 'http://gateway:8080/send?to=ops@example.com'],
  ['connection string without password', 'postgres://orders-db.shop.svc:5432/orders?sslmode=require'],
  ['connection string with a reference', 'postgres://app:$(DB_PASSWORD)@db:5432/orders'],
  ['variable reference', 'exec app --password=$(DB_PASSWORD) --token=$' + '{API_TOKEN}'],
  ['missing secret', 'MountVolume.SetUp failed for volume "creds" : secret "db-credentials" not found'],
  ['missing key', "couldn't find key DB_PASSWORD in Secret shop/db-credentials"],
  ['klog secret', 'Caches populated err="not found" secret="shop/db-credentials"'],
  [
    'error code after a secret word',
    'failed to refresh token: AADSTS7000222: The provided client secret keys for app are expired',
  ],
  ['Oracle code after a secret word', 'login with password: ORA-01017: invalid username or password'],
  ['secret name', 'secretName: db-credentials'],
  ['token file', '--token-file=/var/run/secrets/kubernetes.io/serviceaccount/token'],
  ['token path', 'open /var/run/secrets/eks.amazonaws.com/serviceaccount/token: permission denied'],
  ['password file', 'DB_PASSWORD_FILE=/run/secrets/db-password'],
  ['token lifetime', 'expirationSeconds: 3607, tokenExpirationSeconds=86400'],
  ['token prose', 'Unable to authenticate the request: invalid bearer token, token: expired'],
  ['token error', 'failed to refresh token: context deadline exceeded'],
  ['password prose', 'pq: password authentication failed for user "app"'],
  ['too many logins', 'toomanyrequests: too many failed login attempts for username or access token'],
  ['token bucket', 'client-side throttling, token bucket empty, max_tokens=20'],
  ['flag prose', 'the --token flag is required'],
  ['authorization mode', 'kube-apiserver --authorization-mode=Node,RBAC --service-account-key-file=/srv/sa.pub'],
  ['rbac', 'deployments.apps is forbidden: User "x" cannot list resource: rbac.authorization.k8s.io: denied'],
  ['routing key', 'published exchange=orders routing_key=orders.created.v2'],
  ['counts of passes', 'tests pass=118 fail=2, second pass: 12 rows'],
  ['plain keys', 'PARTITION_KEY=customer_id TOPOLOGY_KEY=topology.kubernetes.io/zone cache_key=user:4711:profile'],
  ['idempotency key', 'idempotency_key=6f1d2c3b-8c1e-4c55-9d37-0f0a5d6b7c8d'],
  ['authentication method', 'sasl_auth=ldap CLIENT_AUTH=required'],
  ['checksum', 'checksum/secret: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  ['ca hash', '--discovery-token-ca-cert-hash sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  ['certificate', '-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUXgdmaWxsZXJmaWxsZXI=\n-----END CERTIFICATE-----'],
  ['certificate in base64', 'certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJzekNDQVZtZ0F3SUJB'],
  ['role of a policy', 'Not authorized to perform sts:AssumeRoleWithWebIdentity'],
  ['empty password', 'password="" user=app'],
  ['feature flag', 'disable_token_auth=true REQUIRE_API_KEY=false'],
  ['labels', 'app.kubernetes.io/component=token-service,team=secrets'],
];

describe('look-alikes stay readable', () => {
  it.each(readable)('%s', (_name, text) => {
    expect(redactText(text)).toBe(text);
    expect(redact({ message: text })).toEqual({ message: text });
  });

  it('the fields of Kubernetes objects that speak of secrets', () => {
    const object = {
      kind: 'Pod',
      metadata: {
        uid: '6f1d2c3b-8c1e-4c55-9d37-0f0a5d6b7c8d',
        annotations: { 'checksum/secret': '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
      },
      spec: {
        automountServiceAccountToken: true,
        imagePullSecrets: [{ name: 'registry-credentials' }],
        containers: [
          {
            name: 'api',
            env: [
              { name: 'DB_PASSWORD', valueFrom: { secretKeyRef: { name: 'db-credentials', key: 'password' } } },
              { name: 'TOKEN_TTL', value: '3600' },
              { name: 'SECRET_NAME', value: 'db-credentials' },
            ],
            envFrom: [{ secretRef: { name: 'env-credentials' } }],
          },
        ],
        volumes: [
          { name: 'creds', secret: { secretName: 'db-credentials', defaultMode: 420 } },
          {
            name: 'token',
            projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3607 } }] },
          },
        ],
      },
    };
    expect(redact(object)).toBe(object);
  });
});

const casesFolder = 'test/cases';

describe('what a verdict has to cite survives', () => {
  it.each(readdirSync(casesFolder))('%s', (name) => {
    const folder = join(casesFolder, name);
    const expectations: string[] = JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8')).expected.must_cite ?? [];
    const lost = new Set<string>();
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name === 'case.json') continue;
      const raw = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      const before = entry.name.endsWith('.json') ? JSON.stringify(JSON.parse(raw)) : raw;
      const after = entry.name.endsWith('.json') ? JSON.stringify(redact(JSON.parse(raw))) : redactText(raw);
      for (const pattern of expectations) {
        const count = (text: string): number => [...text.matchAll(new RegExp(pattern, 'g'))].length;
        if (count(before) !== count(after)) lost.add(`${entry.name}: ${pattern}`);
      }
    }
    expect([...lost]).toEqual([]);
  });
});
