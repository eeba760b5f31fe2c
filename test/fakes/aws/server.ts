import { createHash, createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** Keys that the double knows; a request signed with others is refused, as AWS would. */
export const hubKeys = { accessKeyId: 'AKIAHUB', secretAccessKey: 'hub-secret' };
const spokeSecret = 'spoke-secret';

export interface AwsRequest {
  /** `service.operation`, e.g. `health.describeEvents`. */
  call: string;
  parameters: any;
  accessKeyId: string;
  sessionToken?: string;
}

/** An answer in the API's own JSON (times as seconds), or its refusal. */
export type AwsAnswer = { body: unknown } | { error: string; message?: string; status?: number } | 'silence';

export interface AwsApi {
  url: string;
  /** In the order they came. */
  requests: AwsRequest[];
  /** Calls so far of one operation. */
  count(call: string): number;
  close(): Promise<void>;
}

type Answers = Record<string, AwsAnswer | ((parameters: any, times: number) => AwsAnswer)>;

/**
 * AWS over HTTP for what moto lacks: JSON 1.0/1.1, REST-JSON (EKS, MQ, ARC) and the query protocol (STS). It verifies each
 * request's SigV4 signature. STS answers by itself; an operation without an answer is not allowed.
 */
export async function startAwsApi(answers: Answers = {}): Promise<AwsApi> {
  const requests: AwsRequest[] = [];
  const count = (call: string): number => requests.filter((request) => request.call === call).length;
  const given: Answers = { ...stsAnswers, ...answers };

  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { service, accessKeyId } = scopeOf(request);
    const { operation, parameters, protocol } = operationOf(service, request, body);
    const call = `${service}.${operation}`;
    const sessionToken = request.headers['x-amz-security-token'] as string | undefined;
    requests.push({ call, parameters, accessKeyId, ...(sessionToken && { sessionToken }) });
    const answer = given[call];
    const refused: AwsAnswer = { error: 'AccessDeniedException', message: `not authorized to perform: ${call}` };
    const told = !isSigned(request, body)
      ? { error: 'SignatureDoesNotMatch', status: 403 }
      : typeof answer === 'function'
        ? answer(parameters, count(call))
        : (answer ?? refused);
    if (told !== 'silence') reply(response, protocol, operation, told);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const stsAnswers: Answers = {
  'sts.getCallerIdentity': { body: '<Account>123456789012</Account><Arn>arn:aws:iam::123456789012:role/hub</Arn>' },
  'sts.assumeRole': (_, times) => ({
    body: `<Credentials><AccessKeyId>ASIASPOKE${times}</AccessKeyId><SecretAccessKey>${spokeSecret}</SecretAccessKey><SessionToken>session-${times}</SessionToken><Expiration>${new Date(Date.now() + 3600_000).toISOString()}</Expiration></Credentials>`,
  }),
};

const scopeOf = (request: http.IncomingMessage): { service: string; accessKeyId: string } => {
  const match = /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? '');
  return { service: match?.[2] ?? '', accessKeyId: match?.[1] ?? '' };
};

const restPaths: [RegExp, string, string[]][] = [
  [/^\/autoshifts$/, 'listAutoshifts', []],
  [/^\/zonalshifts$/, 'listZonalShifts', []],
  [/^\/v1\/brokers$/, 'listBrokers', []],
  [/^\/clusters\/([^/]+)$/, 'describeCluster', ['name']],
  [/^\/clusters\/([^/]+)\/updates$/, 'listUpdates', ['name']],
  [/^\/clusters\/([^/]+)\/updates\/([^/]+)$/, 'describeUpdate', ['name', 'updateId']],
  [/^\/clusters\/([^/]+)\/addons$/, 'listAddons', ['clusterName']],
  [/^\/clusters\/([^/]+)\/addons\/([^/]+)$/, 'describeAddon', ['clusterName', 'addonName']],
  [/^\/clusters\/([^/]+)\/access-entries$/, 'listAccessEntries', ['clusterName']],
  [/^\/clusters\/([^/]+)\/access-entries\/([^/]+)$/, 'describeAccessEntry', ['clusterName', 'principalArn']],
  [
    /^\/clusters\/([^/]+)\/access-entries\/([^/]+)\/access-policies$/,
    'listAssociatedAccessPolicies',
    ['clusterName', 'principalArn'],
  ],
  [/^\/clusters\/([^/]+)\/node-groups$/, 'listNodegroups', ['clusterName']],
  [/^\/clusters\/([^/]+)\/node-groups\/([^/]+)$/, 'describeNodegroup', ['clusterName', 'nodegroupName']],
  [/^\/clusters\/([^/]+)\/fargate-profiles$/, 'listFargateProfiles', ['clusterName']],
  [/^\/clusters\/([^/]+)\/insights$/, 'listInsights', ['clusterName']],
];

type Protocol = 'json' | 'rest' | 'query';

const operationOf = (
  service: string,
  request: http.IncomingMessage,
  body: string,
): { operation: string; parameters: any; protocol: Protocol } => {
  const lowered = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);
  const target = request.headers['x-amz-target'] as string | undefined;
  if (target)
    return { operation: lowered(target.split('.').at(-1)!), parameters: JSON.parse(body || '{}'), protocol: 'json' };
  if (service === 'eks' || service === 'mq' || service === 'arc-zonal-shift') {
    const url = new URL(request.url!, 'http://eks');
    for (const [pattern, operation, names] of restPaths) {
      const match = pattern.exec(url.pathname);
      if (!match) continue;
      const inPath = names.map((name, index) => [name, decodeURIComponent(match[index + 1]!)]);
      return {
        operation,
        parameters: { ...Object.fromEntries([...inPath, ...url.searchParams]), ...(body && JSON.parse(body)) },
        protocol: 'rest',
      };
    }
  }
  const parameters = Object.fromEntries(new URLSearchParams(body));
  return { operation: lowered(parameters.Action ?? `unknown ${request.url}`), parameters, protocol: 'query' };
};

const reply = (
  response: http.ServerResponse,
  protocol: Protocol,
  operation: string,
  answer: Exclude<AwsAnswer, string>,
): void => {
  const requestId = '<ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata>';
  const name = operation.charAt(0).toUpperCase() + operation.slice(1);
  if ('error' in answer) {
    const { error, message = error, status = 400 } = answer;
    const xml = `<ErrorResponse><Error><Type>Sender</Type><Code>${error}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    response.writeHead(status, {
      'content-type': protocol === 'query' ? 'text/xml' : 'application/x-amz-json-1.1',
      'x-amzn-errortype': error,
    });
    response.end(protocol === 'query' ? xml : JSON.stringify({ __type: error, message }));
    return;
  }
  response.writeHead(200, { 'content-type': protocol === 'query' ? 'text/xml' : 'application/x-amz-json-1.1' });
  response.end(
    protocol === 'query'
      ? `<${name}Response><${name}Result>${answer.body}</${name}Result>${requestId}</${name}Response>`
      : JSON.stringify(answer.body),
  );
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html, written out once more on purpose. */
const isSigned = (request: http.IncomingMessage, body: string): boolean => {
  const { authorization = '' } = request.headers;
  const match = /Credential=([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(authorization);
  if (!match) return false;
  const [, credential = '', signedHeaders = '', signature] = match;
  const [accessKeyId = '', date = '', region = '', service = ''] = credential.split('/');
  const secret = accessKeyId === hubKeys.accessKeyId ? hubKeys.secretAccessKey : spokeSecret;
  const headers = signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  return (
    signature ===
    signatureOf({
      secret,
      scope: [date, region, service],
      time: request.headers['x-amz-date'] as string,
      method: request.method!,
      url: new URL(request.url!, 'http://aws'),
      headers: headers.join(''),
      signedHeaders,
      bodyHash: sha256(body),
    })
  );
};

export interface Signed {
  secret: string;
  /** Date, region and service. */
  scope: string[];
  time: string;
  method: string;
  url: URL;
  headers: string;
  signedHeaders: string;
  bodyHash: string;
}

/** The signature that a request must bear. */
export const signatureOf = (signed: Signed): string => {
  const { secret, scope, time, method, url, headers, signedHeaders, bodyHash } = signed;
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const path = url.pathname.split('/').map(encode).join('/');
  const canonical = [method, path, query, headers, signedHeaders, bodyHash].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, [...scope, 'aws4_request'].join('/'), sha256(canonical)].join('\n');
  const key = [...scope, 'aws4_request'].reduce<string | Buffer>((parent, part) => hmac(parent, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
};
