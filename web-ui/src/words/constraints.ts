/** The words of what admins decide by hand. */
import type { Move } from '../api/model';

/** What an admin may do with a delegation. */
export type Hand = 'pin' | 'override' | 'exclude';

/** Everything the dialog says. */
export interface HandWords {
  verb: string;
  title: (subnet: string) => string;
  consequence: string;
  agent: string;
  done: string;
}

/** What the dialog says for each. */
export const handWords: Readonly<Record<Hand, HandWords>> = {
  pin: {
    verb: 'Pin',
    title: (subnet) => `Pin ${subnet}`,
    consequence:
      'The agent crawls it until the pin expires or is removed. No search, balance or calibration moves it.',
    agent: 'To which agent?',
    done: 'It is pinned. Its agent gets it within seconds.',
  },
  override: {
    verb: 'Override',
    title: (subnet) => `Give ${subnet} to another agent`,
    consequence:
      'The agent gets it now, once. Later searches and balance may move it on; to keep it there, pin it.',
    agent: 'To which agent?',
    done: 'It has another agent now.',
  },
  exclude: {
    verb: 'Exclude',
    title: (subnet) => `Exclude an agent from ${subnet}`,
    consequence:
      'The agent is neither asked nor chosen any more. What it has there is searched for anew; it keeps it until another agent is found.',
    agent: 'Which agent?',
    done: 'It is excluded.',
  },
};

const hour = 3_600_000;

/** How long a pin or an exclusion may count, in milliseconds; 0 is until it is removed. */
export const terms: readonly [words: string, ms: number][] = [
  ['1 day', 24 * hour],
  ['7 days', 7 * 24 * hour],
  ['30 days', 30 * 24 * hour],
  ['1 year', 365 * 24 * hour],
  ['Until it is removed', 0],
];

const ruleNames: Readonly<Record<string, string>> = {
  optimal: 'Towards the cheapest plan',
  variance: 'Relief: smallest variance',
  next_best: 'Relief: next best',
  cheapest: 'Relief: cheapest',
};

/** The rule of a move. */
export const ruleName = (rule: string) => ruleNames[rule] ?? rule;

const refusals: Readonly<Record<Move['refused'][number]['why'], string>> = {
  full: 'no room',
  dearer: 'dearer',
  worth_more: 'its room saves more elsewhere',
  varies: 'its times vary more',
};

/** Why an alternative was not taken, in short. */
export const refusal = (why: Move['refused'][number]['why']) => refusals[why];
