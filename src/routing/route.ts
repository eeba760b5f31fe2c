import type { Facts } from '../domain/facts.ts';
import { describeRef } from '../domain/kubernetes.ts';
import { type Layer, layers } from '../domain/layer.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Routing } from '../domain/view.ts';
import { ClusterFacts } from '../facts/cluster.ts';
import { findTeam, type OwnerDirectory, type Party, platformTeamOf } from './directory.ts';
import { explainOwner } from './explain.ts';
import { alertsAbout, rootObject } from './root.ts';
import { vendorParty } from './vendor.ts';

export interface RouteInput {
  verdict: Verdict;
  facts: Facts;
  directory: OwnerDirectory;
}

/** Who acts on the verdict, and the fact that says so. Nobody is mentioned unless a fault has an owner. */
export const route = ({ verdict, facts, directory }: RouteInput): Routing => {
  if (verdict.state !== 'fault') {
    const because = verdict.state === 'expected' ? 'this is expected behaviour' : 'it ended by itself';
    return { owner: verdict.owner, party: 'Nobody', knownBy: because, mention: null, channel: null };
  }
  const indexed = new ClusterFacts(facts);
  if (verdict.owner !== 'undetermined')
    return { owner: verdict.owner, ...partyOf(verdict.owner, verdict, indexed, directory) };
  const first = firstLooker(verdict);
  const { party, knownBy } = partyOf(first, verdict, indexed, directory);
  const reason = verdict.missing[0] ? `can read what is missing (${verdict.missing[0].missing})` : 'runs the cluster';
  return { owner: 'undetermined', party, knownBy: `${reason}; ${knownBy}`, mention: null, channel: null };
};

/**
 * Who can make the missing reads of an undetermined verdict: the app team where all of them are its own, else the
 * platform team. Cloud reads are the platform team's as well: it holds the account, the vendor sees no cluster.
 */
export const firstLooker = ({ missing }: Pick<Verdict, 'missing'>): Extract<Layer, 'platform' | 'app'> =>
  missing.length > 0 && missing.every(({ layer }) => layer === 'app') ? 'app' : 'platform';

/**
 * Where a person's hand-off leads: to a layer's party, or to a team of the directory by id, name or alias, which acts
 * for its layer. Null: there is no such team. `by` is the sentence that says who decided.
 */
export const handOffTo = (to: string, by: string, { verdict, facts, directory }: RouteInput): HandedOver | null => {
  const layer = layers.find((name) => name === to.trim().toLowerCase());
  if (layer) {
    const { party, mention, channel } = partyOf(layer, verdict, new ClusterFacts(facts), directory);
    return { to: layer, routing: { owner: layer, party, knownBy: by, mention, channel } };
  }
  const team = findTeam(directory, to);
  if (!team) return null;
  const isPlatform = platformTeamOf(directory, facts.cluster.name).team.name === team.name;
  const owner = isPlatform ? 'platform' : 'app';
  return { to: owner, routing: { owner, ...destination(team, by) } };
};

export interface HandedOver {
  to: Layer;
  routing: Routing;
}

type Destination = Omit<Routing, 'owner'>;

const partyOf = (layer: Layer, verdict: Verdict, facts: ClusterFacts, directory: OwnerDirectory): Destination => {
  if (layer === 'cloud') {
    const { knownBy, ...vendor } = vendorParty(facts, directory);
    return destination(vendor, knownBy);
  }
  if (layer === 'platform') {
    const { team, entry } = platformTeamOf(directory, facts.identity.name);
    return destination(
      team,
      entry
        ? `entry ${entry} of the owner directory`
        : 'nobody is named for the platform: set platform.team in the owner directory',
    );
  }
  const target = rootObject(verdict, facts);
  const { party, knownBy } = explainOwner({ target, facts, directory, alerts: alertsAbout(target, facts) });
  return destination(party, knownBy.includes(describeRef(target)) ? knownBy : `${knownBy}, for ${describeRef(target)}`);
};

const destination = ({ name, mention, channel }: Party, knownBy: string): Destination => ({
  party: name,
  knownBy,
  mention,
  channel,
});
