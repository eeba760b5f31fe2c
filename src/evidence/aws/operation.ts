import type { CloudQuestion, CloudResources } from '../../triage/ports.ts';

type Parameters = Record<string, unknown>;

/** Whom and what a request is about. */
export interface Context extends Omit<CloudQuestion, 'touched'>, CloudResources {
  /** Name of the cluster in EKS. */
  clusterName: string;
  region: string;
}

/** Answers of the operations named in `after`; undefined where one had nothing to say or could not be read. */
export type Earlier = Record<string, any>;

/** One read-only API operation: what it is asked, and what of its answers is kept. */
export interface Operation {
  /** Operations whose answers say what to ask. */
  after?: string[];
  /** Parameters of each request; none: there is nothing to ask about. */
  requests(context: Context, earlier: Earlier): Parameters[];
  /** Needs nothing of the cluster's objects, and so is asked also while the API server is away. */
  standalone?: boolean;
  /** Field of the answer that holds a list: pages and several requests are joined in it. */
  list?: string;
  /** Pages read of each request; default 3. */
  maxPages?: number;
  /** That something is not in the list is evidence too: a list cut short is a gap, not an answer. */
  whole?: boolean;
  /** Where several things were described, the one that tells most; default the first. */
  pick?(answers: any[], context: Context): any;
  /** Turns the SDK's shape into the one of the API's JSON, where they differ. */
  shape?(answer: any): any;
}

export interface ClientSettings {
  region: string;
  endpoint?: string;
  credentials?: unknown;
  maxAttempts: number;
}

/** A loaded SDK client; `send` takes the operation by name. */
export interface ServiceClient {
  send(operation: string, parameters: Parameters, signal: AbortSignal): Promise<any>;
}

export interface Service {
  /** Prefix of its IAM actions. */
  iam: string;
  /**
   * What we allow ourselves per account and region. Far below the service's own limits, because the account's
   * controllers (Karpenter above all) share them.
   */
  budget: { perSecond: number; burst: number };
  /** Names of the page token in answers and requests. */
  token?: { from: string; to: string };
  /** Region of the endpoint where the service has one for its whole partition. */
  homeRegion?(region: string): string;
  /** Loads the SDK on first use: together they cost over 100 MB of memory. */
  load(settings: ClientSettings): Promise<ServiceClient>;
  operations: Record<string, Operation>;
}

/** Makes a client out of an SDK module: `describeInstances` is sent as its `DescribeInstancesCommand`. */
export const sdkClient = (sdk: object, name: string, settings: ClientSettings): ServiceClient => {
  const module = sdk as Record<string, new (input: any) => any>;
  const client = new module[name]!(settings);
  return {
    send: (operation, parameters, signal) =>
      client.send(new module[`${capitalised(operation)}Command`]!(parameters), { abortSignal: signal }),
  };
};

export const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** One filter of an EC2-like API; without values there is nothing to ask. */
export const byFilter = (name: string, values: string[]): Parameters[] =>
  values.length > 0 ? [{ Filters: [{ Name: name, Values: values }] }] : [];

/** Whether something described is not as it should be. */
export const isUnwell = (described: any): boolean =>
  !['ACTIVE', 'Successful'].includes(described?.status) || (described?.health?.issues ?? []).length > 0;
