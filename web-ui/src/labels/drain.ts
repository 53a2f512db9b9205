/** Texts of drains. */
import type { Drain } from '../api/model';
import type { Label } from './agent';

const states: Readonly<Record<Drain['state'], Label>> = {
  draining: { text: 'Draining', tone: 'warn' },
  overdue: { text: 'Past its deadline', tone: 'bad' },
  drained: { text: 'Drained', tone: 'calm' },
};

/** Label of how far a drain is. */
export const drainLabel = (state: Drain['state']): Label => states[state];

const meanings: Readonly<Record<Drain['state'], string>> = {
  draining:
    'Its subnets go to the nearest agents that have measured them; the others are searched for.',
  overdue:
    'What it still has is taken from it. A host is free when the agent has released it, at the latest when its lease ends.',
  drained: 'It has neither subnets nor hosts, and gets none until the drain is ended.',
};

/** What happens in this state. */
export const drainMeaning = (state: Drain['state']): string => meanings[state];

const hour = 3600;

/** Deadlines in seconds; 0 means none. */
export const deadlines: readonly [name: string, seconds: number][] = [
  ['1 hour', hour],
  ['6 hours', 6 * hour],
  ['1 day', 24 * hour],
  ['7 days', 7 * 24 * hour],
  ['No deadline', 0],
];
