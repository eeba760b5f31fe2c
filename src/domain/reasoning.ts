import type { Finding } from './finding.ts';
import type { Layer } from './layer.ts';
import type { LayerVerdict } from './verdict.ts';

/**
 * What a finding is to the root: the root itself, its `consequence`, as well proven and for another owner (`rival`),
 * weaker or for the same owner (`beside`), or about something that does not reach the subject (`elsewhere`).
 */
export type Role = 'root' | 'consequence' | 'rival' | 'beside' | 'elsewhere';

/** A rule that spoke. */
export interface Spoken
  extends Pick<Finding, 'rule' | 'owner' | 'state' | 'mechanism' | 'strength' | 'onset' | 'cause'> {
  title: string;
  role: Role;
}

/** How a verdict came about, for a person who wants to check it: the verdict's own words are not repeated. */
export interface Reasoning {
  /** Hash of the rules that were run; another than the verdict's where they changed since. */
  ruleSet: string;
  read: {
    layer: Layer;
    objects: number;
    logs: number;
    series: number;
    cloudAnswers: number;
    reads: number;
    answered: number;
  }[];
  notRead: { layer: Layer; missing: string; fix: string }[];
  /** What the incident is about, as a phrase. */
  scope: string;
  spoke: Spoken[];
  /** Rules that said nothing and had asked for what was not read, by what that was. */
  couldNotTell: { missing: string; rules: string[] }[];
  /** Rules that said nothing although all they asked for was read. */
  silent: { rule: string; title: string }[];
  broken: { rule: string; message: string }[];
  /** Each reason to be less sure; none at high confidence. */
  doubts: string[];
  /** Why each layer is not, or is, the owner, with what its rules said. */
  layers: { verdict: LayerVerdict; said: Spoken[] }[];
}
