/** Texts of constraints and moves. */
import type { AgentState, Constraint, Move, Preview } from '../api/model';
import { counted, milliseconds } from '../format/number';
import { country } from '../format/registration';

type Rejection = Move['rejected_alternatives'][number]['reason'];

/** Change of a delegation by an admin. */
export type ConstraintAction = 'pin' | 'override' | 'exclude';

/** Texts of the dialog for one action. */
export interface ConstraintTexts {
  verb: string;
  title: (subnet: string) => string;
  consequence: string;
  agent: string;
  /** The states of the agents that may be chosen. */
  states: AgentState[];
  done: string;
}

/** Texts of the dialog for each action. */
export const actionTexts: Readonly<Record<ConstraintAction, ConstraintTexts>> = {
  pin: {
    verb: 'Pin',
    title: (subnet) => `Pin ${subnet}`,
    consequence:
      'The agent crawls the subnet until the pin expires or is removed. No search, balance or calibration reassigns it.',
    agent: 'Agent',
    states: ['approved'],
    done: 'The subnet is pinned. The agent gets it within seconds.',
  },
  override: {
    verb: 'Override',
    title: (subnet) => `Reassign ${subnet}`,
    consequence:
      'The agent gets the subnet now, once. Later searches and balance may reassign it. To keep it there, pin it.',
    agent: 'Agent',
    states: ['approved'],
    done: 'The subnet is reassigned.',
  },
  exclude: {
    verb: 'Exclude',
    title: (subnet) => `Exclude an agent from ${subnet}`,
    consequence:
      'Searches no longer ask or choose the agent. The searches of its subnets there are reopened, and it keeps each subnet until another agent is found.',
    agent: 'Agent',
    states: ['approved', 'paused'],
    done: 'The agent is excluded.',
  },
};

/** The subnets that a constraint covers. The coordinator names countries by their codes. */
export function scopeName({ scope, scope_text }: Pick<Constraint, 'scope' | 'scope_text'>): string {
  return 'country' in scope ? `the subnets in ${country(scope.country)}` : scope_text;
}

const hour = 3_600_000;

/** Durations of a pin or an exclusion in milliseconds; 0 means until it is removed. */
export const durations: readonly [name: string, ms: number][] = [
  ['1 day', 24 * hour],
  ['7 days', 7 * 24 * hour],
  ['30 days', 30 * 24 * hour],
  ['1 year', 365 * 24 * hour],
  ['Until it is removed', 0],
];

/** When a pin or an exclusion ends that is made now, as the API writes times; null for no end. */
export const expiryAfter = (duration: number, now: number): string | null =>
  duration === 0 ? null : new Date(now + duration).toISOString();

type Costs = Pick<Preview, 'subnets' | 'unmeasured' | 'cost_before_ms' | 'cost_after_ms'>;

/** Cost of a change, as a sentence. */
export function costOf({ subnets, unmeasured, cost_before_ms, cost_after_ms }: Costs): string {
  if (unmeasured >= subnets) return 'No subnet has a known cost both before and after.';
  const cost = `${milliseconds(cost_before_ms)} before and ${milliseconds(cost_after_ms)} after`;
  const rest = `, without ${counted(unmeasured, 'subnet')} not measured before or after`;
  return `The cost per day is ${cost}${unmeasured > 0 ? rest : ''}.`;
}

const ruleNames: Readonly<Record<string, string>> = {
  optimal: 'Towards the cheapest plan',
  relief: 'Relief: several moves together',
  variance: 'Relief: smallest variance',
  next_best: 'Relief: next best',
  cheapest: 'Relief: cheapest',
};

/** Name of the rule behind a move. */
export const ruleName = (rule: string) => ruleNames[rule] ?? rule;

const rejections: Readonly<Record<Rejection, string>> = {
  full: 'no capacity left',
  dearer: 'more expensive',
  worth_more: 'other subnets save more there',
  varies: 'round trips vary more',
};

/** Why an alternative was rejected, in short. */
export const rejectionName = (reason: Rejection) => rejections[reason];
