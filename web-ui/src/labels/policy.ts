/** The settings of the policy in groups, with the units in which people think of them. */
import type { Policy } from '../api/model';
import { DISCOVERY_QUOTAS } from './quotas';

export type Choice = 'strategy' | 'balance_rule' | 'balance_pass';
export type Amount = Exclude<keyof Policy, Choice | 'preset'>;

/** A setting with a number. */
export interface Setting {
  key: Amount;
  name: string;
  /** Unit of the API; times are shown in the largest unit that fits. */
  unit: string;
  min: number;
  max: number;
  meaning: string;
}

/** Settings that belong together. */
interface SettingGroup {
  name: string;
  meaning: string;
  settings: readonly Setting[];
}

export const groups: readonly SettingGroup[] = [
  {
    name: 'Searches',
    meaning: 'How a subnet finds its agent.',
    settings: [
      {
        key: 'threshold_ms',
        name: 'Threshold',
        unit: 'milliseconds',
        min: 1,
        max: 10_000,
        meaning:
          'The round trip that is good enough: a search with the threshold strategy stops at the first agent under it. A lower value finds nearer agents and costs more probes.',
      },
      {
        key: 'patience_s',
        name: 'Patience',
        unit: 'seconds',
        min: 1,
        max: 86_400,
        meaning:
          'How long a search waits for sleeping agents before it delegates provisionally to the best agent so far.',
      },
      {
        key: 'parallel_probes',
        name: 'Agents asked at the same time',
        unit: 'agents',
        min: 1,
        max: 100,
        meaning:
          'How many agents one search may ask at the same time. A higher value decides sooner and costs unneeded probes.',
      },
    ],
  },
  {
    name: 'Probes',
    meaning: 'What is measured, and how much of it.',
    settings: [
      {
        key: 'samples_per_probe',
        name: 'Samples per probe',
        unit: 'round trips',
        min: 1,
        max: 10,
        meaning: 'Round trips that an agent measures for one probe. The smallest counts.',
      },
      {
        key: 'probes_per_agent',
        name: 'Probes per day and agent',
        unit: 'probes',
        min: 1,
        max: 1_000_000_000,
        meaning: 'The coordinator orders no more probes than this from one agent in a day (UTC).',
      },
      {
        key: 'probes_per_target',
        name: 'Probes per day and subnet',
        unit: 'probes',
        min: 1,
        max: 1_000_000_000,
        meaning: 'A search that needs more continues on the next day.',
      },
      {
        key: 'probes_total',
        name: 'Probes per day in total',
        unit: 'probes',
        min: 1,
        max: 1_000_000_000_000,
        meaning: 'Limit for all agents and subnets together.',
      },
      {
        key: 'control_permille',
        name: 'Control probes',
        unit: 'of a thousand searches',
        min: 0,
        max: 1_000,
        meaning:
          'How many decided searches a second agent checks. The searches that a new agent wins are always checked. 0 turns all checks off.',
      },
    ],
  },
  {
    name: 'Crawl',
    meaning: 'How pages are fetched.',
    settings: [
      {
        key: 'host_delay_ms',
        name: 'Delay between requests to a host',
        unit: 'milliseconds',
        min: 0,
        max: 600_000,
        meaning:
          'The least pause between two requests to one host. Owners of agents and robots.txt may require more, never less.',
      },
      {
        key: 'pages_per_host',
        name: 'Pages of a host',
        unit: 'pages',
        min: 1,
        max: 10_000_000,
        meaning:
          'The most pages of one host that its agent keeps and queues, so that endless calendars end. Further links to the host are dropped.',
      },
      {
        key: 'link_depth',
        name: 'Link depth',
        unit: 'links',
        min: 0,
        max: 255,
        meaning: 'The most links from a seed to a page. Links beyond are dropped.',
      },
      {
        key: 'revisit_s',
        name: 'Revisit interval',
        unit: 'seconds',
        min: 0,
        max: 31_536_000,
        meaning:
          'Longest age at which an agent fetches a page again, and the age of the first revisit. With 0 it never does, and slower pages are not noticed.',
      },
      {
        key: 'revisit_least_s',
        name: 'Shortest revisit interval',
        unit: 'seconds',
        min: 1,
        max: 31_536_000,
        meaning:
          'Shortest age at which an agent fetches a page again that changes often. If it is not below the revisit interval, all pages have the same interval.',
      },
    ],
  },
  {
    name: 'Slower pages',
    meaning: 'When a subnet is searched for again because its pages became slower.',
    settings: [
      {
        key: 'slowdown_percent',
        name: 'Slowdown',
        unit: '% of its usual time',
        min: 110,
        max: 10_000,
        meaning: 'A page that takes at least this part of its usual time counts as slow.',
      },
      {
        key: 'slowdown_repeats',
        name: 'Slow visits in a row',
        unit: 'visits',
        min: 1,
        max: 100,
        meaning: 'The agent reports the page after this number.',
      },
      {
        key: 'incident_window_s',
        name: 'Incident window',
        unit: 'seconds',
        min: 1,
        max: 31_536_000,
        meaning:
          'An incident opens when at least half of a subnet’s timing reports in this window are slower. After a move, the former agent measures its path at this interval.',
      },
      {
        key: 'incident_cooldown_s',
        name: 'Incident cooldown',
        unit: 'seconds',
        min: 1,
        max: 31_536_000,
        meaning:
          'The least time from a delegation of a subnet to a new search because of slower pages.',
      },
    ],
  },
  {
    name: 'Balance',
    meaning: 'How the load is spread over the agents.',
    settings: [
      {
        key: 'balance_moves_per_day',
        name: 'Moves per day',
        unit: 'subnets',
        min: 0,
        max: 1_000_000,
        meaning:
          'Most subnets that balance passes move in 24 hours. Relief of overloaded agents does not count.',
      },
      {
        key: 'balance_least_gain_ms',
        name: 'Least gain of a move',
        unit: 'milliseconds per day',
        min: 0,
        max: 1_000_000_000,
        meaning: 'What a move must save unless it relieves an overloaded agent.',
      },
    ],
  },
  {
    name: 'Discovery',
    meaning: 'How much of what agents discover is queued.',
    settings: DISCOVERY_QUOTAS,
  },
];

export const choices = [
  {
    key: 'balance_rule',
    name: 'Relief of an agent over its capacity',
    meaning:
      'Which of its subnets goes to another agent: the one that loses least at any agent with capacity left (cheapest) or at its next-best agent (next best), or the one whose round trips vary least, as in the paper (smallest variance).',
    options: [
      ['cheapest', 'Cheapest'],
      ['next_best', 'Next best'],
      ['variance', 'Smallest variance'],
      ['off', 'None'],
    ],
  },
  {
    key: 'balance_pass',
    name: 'Balance passes',
    meaning:
      'A pass moves subnets towards the cheapest plan once an hour, within the moves per day.',
    options: [
      ['optimal', 'On'],
      ['off', 'Off'],
    ],
  },
] as const;

export const strategies = [
  {
    value: 'predictive',
    name: 'Predictive',
    meaning:
      'Asks the agents that are most likely to be nearest, and stops when no other agent is likely to be nearer. Until something is known of where agents are it uses the threshold.',
  },
  {
    value: 'threshold',
    name: 'Threshold',
    meaning: 'Climbs the hierarchy of the registries until an agent is under the threshold.',
  },
] as const;

/** Units of times in seconds, the largest first. */
export const timeUnits: readonly [name: string, seconds: number][] = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
];

/** The largest unit that gives the time as a whole number; seconds for 0. */
export function timeUnitOf(seconds: number): number {
  if (seconds === 0) return 1;
  return timeUnits.find(([, size]) => seconds % size === 0)?.[1] ?? 1;
}

/** A unit beside its number: `days`, but `1 day`. */
export function unitFor(value: number | null, unit: string): string {
  return value === 1 ? unit.replace(/^(round trip|\w+)s\b/, '$1') : unit;
}

/** A setting as people read it: `7 days`, `1,500 subnets`. */
export function settingText(value: number, unit: string): string {
  const whole = new Intl.NumberFormat('en');
  const text = (shown: number, name: string) => `${whole.format(shown)} ${unitFor(shown, name)}`;
  if (unit !== 'seconds') return text(value, unit);
  const size = timeUnitOf(value);
  const name = timeUnits.find(([, each]) => each === size)?.[0] ?? unit;
  return text(value / size, name);
}
