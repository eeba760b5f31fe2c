import type { AuditEntry } from './audit.ts';
import type { Evidence } from './evidence.ts';
import type { Incident, StoredAlert } from './incident.ts';
import type { Layer, Owner, VerdictState } from './layer.ts';
import type { Silence } from './silence.ts';
import type { Verdict } from './verdict.ts';

/** How loud Faultline may be in a cluster: observe = one channel, no mentions; post = owners' channels; page = mentions. */
export const modes = ['observe', 'post', 'page'] as const;
export type Mode = (typeof modes)[number];

/** Who acts, and the fact that says so. */
export interface Routing {
  owner: Owner;
  /** A name a person recognises: `AWS Support`, `Platform team`, `media`. */
  party: string;
  /** Which fact decided, as a sentence: `label team=media on Deployment media/preview`. */
  knownBy: string;
  /** Slack user, user group or channel id to mention; null where the directory has none. */
  mention: string | null;
  /** Slack channel of the owner; null means the cluster's default channel. */
  channel: string | null;
}

/** The escalation the owner needs, filled from evidence. */
export interface Escalation {
  audience: Layer;
  title: string;
  /** Markdown-like plain text; escaped again by whoever renders it. */
  body: string;
  /** What the receiver will ask for and the evidence does not hold. */
  incomplete: string[];
}

/** A person sent the incident to somebody else than the verdict did; it stands until the next one. */
export interface HandOff {
  /** Counts the hand-offs of the incident, from 1. */
  number: number;
  to: Layer;
  routing: Routing;
  /** What the new owner needs; null where nothing is left to ask. */
  escalation: Escalation | null;
  why: string;
  /** The person says that the verdict's owner was wrong, rather than that somebody else is to act. */
  corrects: boolean;
  by: string;
  /** ISO 8601. */
  at: string;
}

/** What one layer's job has read in the current run. */
export interface LayerReading {
  layer: Layer;
  readAt: string;
  apiCalls: number;
  /** Sources that could not be read, each with the line that fixes it. */
  gaps: { missing: string; fix: string }[];
  /** What the layer's own rules saw in the layer's own facts; a first look, not the verdict. */
  observations: Evidence[];
}

/** Everything stored of one incident. */
export interface IncidentRecord {
  incident: Incident;
  alerts: StoredAlert[];
  /** Malformed alerts of the same notification, set aside: the reason of each. */
  rejected: string[];
  readings: Partial<Record<Layer, LayerReading>>;
  verdict: Verdict | null;
  verdictAt: string | null;
  /** Owner of the verdict before this one, where it differs. */
  formerOwner: Owner | null;
  /** State of the verdict before this one, where it differs: what was expected may have become a fault, or be over. */
  formerState: VerdictState | null;
  routing: Routing | null;
  escalation: Escalation | null;
  /** Where a person sent it; `routing` and `escalation` are then those of the hand-off. */
  handOff: HandOff | null;
  /** Silences that nobody has ended; they may have run out. */
  silences: Silence[];
  /** What was done to it, oldest first, at most the last hundred. */
  trail: AuditEntry[];
  /** Alertmanager's own address, as its notification gave it. */
  externalURL: string;
}

/** Everything that a person is shown of an incident: what the thread, the console and the page render. */
export interface IncidentView extends IncidentRecord {
  mode: Mode;
  /** The cluster's own channel or the default one. */
  channel: string;
  /** Signed or loopback address of the incident page; null where no page is served. */
  pageUrl: string | null;
}
