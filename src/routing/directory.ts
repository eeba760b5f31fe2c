import { z } from 'zod';
import { type Provider, providers } from '../domain/layer.ts';

/** Someone an incident can be sent to. */
export interface Party {
  name: string;
  /** Slack user (U…, W…), user group (S…) or channel id to mention; null: nobody is mentioned. */
  mention: string | null;
  /** Slack channel id or #name; null: the cluster's default channel. */
  channel: string | null;
}

export interface Team extends Party {
  id: string;
  aliases: string[];
}

export interface WorkloadEntry {
  team: string;
  cluster?: string;
  namespace?: string;
  kind?: string;
  name?: string;
  labels?: Record<string, string>;
}

/** Label and annotation keys that name a team, the most telling first. */
export interface OwnerKeys {
  alertLabels: string[];
  labels: string[];
  annotations: string[];
  /** Keys that name a product rather than a team: they count only where the directory knows their value. */
  products: string[];
}

export interface OwnerDirectory {
  teams: Record<string, Team>;
  vendors: Partial<Record<Provider, Party>>;
  platform: { team: string | null; clusters: Record<string, string> };
  /** Namespace or pattern with `*` → team. */
  namespaces: Record<string, string>;
  workloads: WorkloadEntry[];
  defaults: { app: string | null };
  keys: OwnerKeys;
}

const text = z.string().trim().min(1);
const mention = z
  .string()
  .regex(/^[UWSCG][A-Z0-9]{6,}$/, 'the id of a Slack user (U…), user group (S…) or channel (C…), not its name');
const channel = z.string().regex(/^(?:[CG][A-Z0-9]{6,}|#[a-z0-9_-]{1,80})$/, 'a Slack channel id (C…) or #name');
const pattern = z.string().regex(/^[a-zA-Z0-9.*_-]+$/, 'a name, in which * stands for any characters');
const party = { mention: mention.optional(), channel: channel.optional() };

/** One file of the directory: any of these sections. All files of the folder are one directory. */
export const directoryFile = z.strictObject({
  teams: z
    .record(text, z.strictObject({ name: text.optional(), aliases: z.array(text).optional(), ...party }))
    .optional(),
  vendors: z.partialRecord(z.enum(providers), z.strictObject({ name: text.optional(), ...party })).optional(),
  platform: z.strictObject({ team: text.optional(), clusters: z.record(text, text).optional() }).optional(),
  namespaces: z.record(pattern, text).optional(),
  workloads: z
    .array(
      z
        .strictObject({
          team: text,
          cluster: text.optional(),
          namespace: pattern.optional(),
          kind: text.optional(),
          name: pattern.optional(),
          labels: z.record(text, text).optional(),
        })
        .refine(({ namespace, kind, name, labels }) => namespace || kind || name || labels, {
          message: 'at least one of namespace, kind, name, labels beside team',
        }),
    )
    .optional(),
  defaults: z.strictObject({ app: text.optional() }).optional(),
  keys: z
    .strictObject({
      alertLabels: z.array(text).optional(),
      labels: z.array(text).optional(),
      annotations: z.array(text).optional(),
      products: z.array(text).optional(),
    })
    .optional(),
});
export type DirectoryFile = z.infer<typeof directoryFile>;

const teamWords = ['team', 'owner', 'squad'];

/** What is known without a directory: team labels in common use, vendors by provider, one platform team. */
export const emptyDirectory: OwnerDirectory = {
  teams: {},
  vendors: {},
  platform: { team: null, clusters: {} },
  namespaces: {},
  workloads: [],
  defaults: { app: null },
  keys: {
    alertLabels: [...teamWords, 'owning_team', 'owner_team', 'team_name'],
    labels: [...teamWords, 'app.kubernetes.io/team', 'owning-team', 'owner-team'],
    // Backstage's and Ambassador's conventions: https://a8r.io
    annotations: [...teamWords, 'backstage.io/owner', 'a8r.io/owner'],
    products: ['app.kubernetes.io/part-of', 'backstage.io/kubernetes-id'],
  },
};

/** `group:default/media`, `@media` and `Media` are all the team media. */
const plainName = (value: string): string =>
  value
    .trim()
    .replace(/^(?:group|user|component|system):/i, '')
    .replace(/^[\w-]+\//, '')
    .replace(/^@/, '')
    .toLowerCase();

/** The team of this id, name or alias; undefined where the directory has none. */
export const findTeam = (directory: OwnerDirectory, value: string): Team | undefined => {
  const wanted = plainName(value);
  const byId = directory.teams[value] ?? directory.teams[wanted];
  return (
    byId ??
    Object.values(directory.teams).find((team) =>
      [team.id, team.name, ...team.aliases].some((name) => plainName(name) === wanted),
    )
  );
};

/** The platform team of a cluster, with the entry that names it. */
export const platformTeamOf = (
  directory: OwnerDirectory,
  cluster: string,
): { team: Party & { id: string }; entry: string | null } => {
  const own = directory.platform.clusters[cluster];
  const id = own ?? directory.platform.team;
  const team = id ? directory.teams[id] : undefined;
  if (!team) return { team: { id: 'platform', name: 'Platform team', mention: null, channel: null }, entry: null };
  return { team, entry: own ? `platform.clusters.${cluster}: ${id}` : `platform.team: ${id}` };
};
