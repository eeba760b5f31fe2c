import type { Read } from '../../triage/ports.ts';
import { type Budget, type Clock, tokenBucket } from './budget.ts';
import { type AwsCredentials, assumedRole, hubCredentials } from './credentials.ts';
import { gapForBudget, gapForError, gapForUnknown, isTransient } from './gaps.ts';
import type { ServiceClient } from './operation.ts';
import { operationOf } from './operations.ts';
import { plain } from './plain.ts';

/** How a cluster's account is reached. */
export interface AwsAccess {
  region: string;
  /** Role to assume in the cluster's account; unset: Faultline's own credentials. */
  role?: string;
  externalId?: string;
  /** The account's id, where configuration names it. */
  account?: string;
}

export interface AwsOptions {
  /** Longest wait for one call, its tries and its place in the budget together. */
  timeoutMs: number;
  /** Another endpoint for every service; for tests. */
  endpoint?: string;
  clock?: Clock;
}

/** One account in one region. All clusters in it share its budgets. */
export interface AwsAccount {
  region: string;
  /** The answer in the API's JSON shape. The same question is asked once in half a minute. */
  send(call: string, parameters: Record<string, unknown>): Promise<Read<any>>;
  credentials(): Promise<AwsCredentials>;
  /** Its id; null where STS does not say. */
  id(): Promise<string | null>;
}

/** An answer serves every triage of this time: a storm of alerts is one set of calls. */
const keepMs = 30_000;
const maxTries = 3;
const firstPauseMs = 400;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          reject(signal.reason);
        },
        { once: true },
      );
    }),
};

/** The accounts of a process. Nothing is loaded and nothing is sent until the first call. */
export const awsAccounts = ({ timeoutMs, endpoint, clock = systemClock }: AwsOptions) => {
  const settings = (region: string) => ({ region, maxAttempts: 1, ...(endpoint && { endpoint }) });
  const budgets = new Map<string, Budget>();
  const opened = new Map<string, AwsAccount>();

  const open = (access: AwsAccess): AwsAccount => {
    const { region, role } = access;
    const hub = hubCredentials(settings(region), clock.now);
    const spoke = role ? assumedRole({ role, externalId: access.externalId }, settings(region), hub, clock.now) : hub;
    const clients = new Map<string, Promise<ServiceClient>>();
    const answers = new Map<string, { read: Promise<Read<any>>; until: number }>();
    const roleAccount = /^arn:[^:]+:iam::(\d+):/.exec(role ?? '')?.[1];
    let id: Promise<string | null> | undefined;

    const budgetOf = async (serviceName: string, budget: { perSecond: number; burst: number }): Promise<Budget> => {
      const key = `${(await account.id()) ?? 'own'}/${region}/${serviceName}`;
      const known = budgets.get(key) ?? tokenBucket(budget, clock);
      budgets.set(key, known);
      return known;
    };

    const attempt = async (call: string, parameters: Record<string, unknown>): Promise<Read<any>> => {
      const known = operationOf(call);
      if (!known) return { ok: false, gap: gapForUnknown(call) };
      const { service, serviceName, name } = known;
      const signal = AbortSignal.timeout(timeoutMs);
      const endsAt = clock.now() + timeoutMs;
      try {
        // Credentials first: without them no budget is spent and no SDK is loaded.
        await spoke();
        const budget = await budgetOf(serviceName, service.budget);
        const client = clients.get(serviceName) ?? loadClient(serviceName, service);
        clients.set(serviceName, client);
        for (let tries = 1; ; tries++) {
          if (!(await budget.take(Math.max(0, endsAt - clock.now()), signal)))
            return { ok: false, gap: gapForBudget(call) };
          try {
            return { ok: true, value: plain(await (await client).send(name, parameters, signal)), complete: true };
          } catch (error) {
            const pauseMs = firstPauseMs * 2 ** (tries - 1);
            if (!isTransient(error) || tries === maxTries || clock.now() + pauseMs > endsAt) throw error;
            await clock.sleep(pauseMs, signal);
          }
        }
      } catch (error) {
        return { ok: false, gap: gapForError(call, error) };
      }
    };

    const loadClient = (serviceName: string, service: NonNullable<ReturnType<typeof operationOf>>['service']) =>
      service.load({ ...settings(service.homeRegion?.(region) ?? region), credentials: spoke }).catch((error) => {
        clients.delete(serviceName);
        throw error;
      });

    const account: AwsAccount = {
      region,
      credentials: spoke,
      async send(call, parameters) {
        const key = `${call} ${JSON.stringify(parameters)}`;
        const now = clock.now();
        for (const [old, { until }] of answers) if (until <= now) answers.delete(old);
        const known = answers.get(key);
        if (known) return known.read;
        const entry = { read: attempt(call, parameters), until: now + keepMs };
        answers.set(key, entry);
        const read = await entry.read;
        // A failure may pass; who shared it has it, the next one asks anew.
        if (!read.ok && read.gap.reason !== 'forbidden') answers.delete(key);
        return read;
      },
      id() {
        id ??= access.account || roleAccount ? Promise.resolve(access.account ?? roleAccount!) : callerAccount();
        return id;
      },
    };

    const callerAccount = async (): Promise<string | null> => {
      try {
        const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
        const client = new STSClient({ ...settings(region), credentials: spoke });
        const answer = await client.send(new GetCallerIdentityCommand(), {
          abortSignal: AbortSignal.timeout(timeoutMs),
        });
        return answer.Account ?? null;
      } catch {
        id = undefined;
        return null;
      }
    };

    return account;
  };

  return {
    account(access: AwsAccess): AwsAccount {
      const key = JSON.stringify([access.region, access.role, access.externalId, access.account]);
      const known = opened.get(key) ?? open(access);
      opened.set(key, known);
      return known;
    },
  };
};

export type AwsAccounts = ReturnType<typeof awsAccounts>;
