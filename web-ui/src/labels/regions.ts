/** Texts of regions and their members. */
import type { Region, RegionMember } from '../api/model';
import type { Label } from './agent';

const modes: Readonly<Record<Region['mode'], string>> = {
  safe: 'A minority stops: a host never has two agents.',
  available: 'A minority goes on: hosts may be fetched twice.',
};

const activities: Readonly<Record<RegionMember['activity'], Label>> = {
  alive: { text: 'Alive', tone: 'good' },
  suspected: { text: 'Silent', tone: 'warn' },
  asleep: { text: 'Asleep', tone: 'accent' },
  replaced: { text: 'Replaced by others', tone: 'bad' },
};

/** What the members of a region do without a majority. */
export const modeMeaning = (mode: Region['mode']) => modes[mode];

/** Label of what a member does as far as the coordinator knows. */
export const activityLabel = (activity: RegionMember['activity']) => activities[activity];

/** Label of whether a majority of voters lets a member fetch. */
export function leaseLabel(hasLease: boolean | null): Label {
  if (hasLease === null) return { text: 'No report yet', tone: 'calm' };
  return hasLease ? { text: 'Held', tone: 'good' } : { text: 'None', tone: 'warn' };
}

/** A version as the agents' own status shows it: `3.12`. */
export const versionName = ({ epoch, delta }: Region['roster']) => `${epoch}.${delta}`;

/** Whether a member follows an older roster than the region's. */
export function isBehind(member: RegionMember, { roster }: Region): boolean {
  const known = member.roster;
  if (!known) return false;
  return known.epoch < roster.epoch || (known.epoch === roster.epoch && known.delta < roster.delta);
}
