import type { CloudAnswer } from '../../domain/facts.ts';
import type { CloudQuestion, CloudReader, CloudResources, Read } from '../../triage/ports.ts';
import type { AwsAccount } from './account.ts';
import { gapForCutShort, gapForNothing, gapForUnknown } from './gaps.ts';
import { readMetrics } from './metrics.ts';
import type { Context, Earlier } from './operation.ts';
import { type Known, operationOf } from './operations.ts';
import { pagesOf } from './pages.ts';

const defaultMaxPages = 3;

const nothingTouched: CloudResources = {
  namespaces: [],
  instanceIds: [],
  subnetIds: [],
  securityGroupIds: [],
  imageIds: [],
  volumeIds: [],
  nodegroups: [],
  nodeRoles: [],
  podRoles: [],
  nodeRoleRefused: false,
  loadBalancerHosts: [],
  images: [],
  queues: [],
  launchErrors: [],
};

/** A reader for one triage: each operation is asked once in it, also where others need its answer first. */
export const awsReader = (account: AwsAccount, clusterName: string): CloudReader => {
  const asked = new Map<string, Promise<Read<any>>>();
  let calls = 0;

  const send = (call: string, parameters: Record<string, unknown>): Promise<Read<any>> => {
    calls += 1;
    return account.send(call, parameters);
  };

  const ask = (call: string, question: CloudQuestion): Promise<Read<any>> => {
    const known = operationOf(call);
    if (!known) return Promise.resolve({ ok: false, gap: gapForUnknown(call) });
    const answer = asked.get(call) ?? answerOf(call, known, question);
    asked.set(call, answer);
    return answer;
  };

  const answerOf = async (call: string, { operation, service }: Known, question: CloudQuestion): Promise<Read<any>> => {
    const after = operation.after ?? [];
    const [touched, ...reads] = await Promise.all([
      operation.standalone ? nothingTouched : question.touched(),
      ...after.map((earlier) => ask(earlier, question)),
    ]);
    const earlier: Earlier = Object.fromEntries(
      reads.map((read, index) => [after[index], read.ok ? read.value : undefined]),
    );
    const { since, until } = question;
    const context: Context = { ...touched, since, until, clusterName, region: account.region };
    const requests = operation.requests(context, earlier);
    const failed = reads.find((read) => !read.ok && read.gap.reason !== 'not-found');
    if (requests.length === 0) return failed ?? { ok: false, gap: gapForNothing(call) };
    const read = (parameters: Record<string, unknown>): Promise<Read<any>> =>
      pagesOf((page) => send(call, page), parameters, {
        list: operation.list,
        token: service.token,
        maxPages: operation.maxPages ?? defaultMaxPages,
      });
    const [first, ...rest] = requests;
    const answer = await read(first!);
    // What is not allowed once is not allowed again, and would cost its place in the budget.
    if (!answer.ok && answer.gap.reason === 'forbidden') return answer;
    const answers = [answer, ...(await Promise.all(rest.map(read)))];
    return joined(call, operation, answers, context);
  };

  return {
    async call(operation, question): Promise<Read<CloudAnswer>> {
      const read = await ask(operation, question);
      return read.ok ? { ...read, value: { call: operation, answer: read.value } } : read;
    },
    metrics: (queries, question) =>
      readMetrics(queries, {
        clusterName,
        touched: question.touched,
        ask: async (call) => {
          const read = await ask(call, question);
          return read.ok ? read.value : undefined;
        },
        send: (parameters) => send('cloudwatch.getMetricData', parameters),
      }),
    get calls() {
      return calls;
    },
  };
};

/** The answers of one operation as one. */
const joined = (call: string, operation: Known['operation'], reads: Read<any>[], context: Context): Read<any> => {
  const { list, whole, pick, shape = (answer) => answer } = operation;
  const good = reads.filter((read) => read.ok);
  if (good.length === 0) return reads.find((read) => !read.ok && read.gap.reason !== 'not-found') ?? reads[0]!;
  const complete = good.length === reads.length && good.every((read) => read.complete);
  if (whole && !complete) return reads.find((read) => !read.ok) ?? { ok: false, gap: gapForCutShort(call) };
  const answers = good.map((read) => read.value);
  const answer = list ? { [list]: answers.flatMap((value) => value[list]) } : (pick?.(answers, context) ?? answers[0]);
  return { ok: true, value: shape(answer), complete };
};
