/** Texts of agents and their administration. */
import type { Agent, AgentSort, ReportTrust } from '../api/model';
import { duration } from '../format/time';
import type { Tone } from './delegation';

/** Text and colour of a tag. */
export interface Label {
  text: string;
  tone: Tone;
}

const states: Readonly<Record<Agent['state'], Label>> = {
  pending: { text: 'Waiting for approval', tone: 'warn' },
  approved: { text: 'Approved', tone: 'good' },
  paused: { text: 'Paused', tone: 'calm' },
  revoked: { text: 'Revoked', tone: 'bad' },
};

const presences: Readonly<Record<Agent['presence'], Label>> = {
  awake: { text: 'Awake', tone: 'good' },
  asleep: { text: 'Asleep', tone: 'accent' },
  unreachable: { text: 'Unreachable', tone: 'bad' },
  never: { text: 'Not seen yet', tone: 'calm' },
};

/** Orders of the list of agents. */
export const agentSorts: Readonly<Record<AgentSort, string>> = {
  newest: 'Newest',
  name: 'Name',
  delegations: 'Most delegations',
  hosts: 'Most hosts',
  pages: 'Most pages',
  shipped: 'Most bytes shipped',
  silent: 'Longest without a heartbeat',
};

/** Label of what the admins decided about an agent. */
export function stateLabel(state: Agent['state']): Label {
  return states[state];
}

/** Label of an agent's standing: one that left was not revoked by an admin. */
export function standingLabel(agent: Pick<Agent, 'state' | 'leaving_at' | 'left_at'>): Label {
  if (agent.left_at) return { text: 'Left', tone: 'calm' };
  return agent.leaving_at ? { text: 'Leaving', tone: 'calm' } : stateLabel(agent.state);
}

/** Label of whether an agent can be reached. */
export function presenceLabel(presence: Agent['presence']): Label {
  return presences[presence];
}

const reportLevels: Readonly<Record<ReportTrust['level'], string>> = {
  trusted: 'Trusted',
  new: 'New',
  doubted: 'Doubted',
  forging: 'Its reports are forged',
};

const reportChecks: Readonly<Partial<Record<ReportTrust['level'], string>>> = {
  trusted: 'a sample of the delegation searches that it wins is checked',
  new: 'the delegation searches that it wins are checked',
  doubted: 'implausible times are replaced',
};

/** How much a report of an agent counts, and while it works what follows for the next ones. */
export function reportLevelName(level: ReportTrust['level'], works: boolean): string {
  const check = reportChecks[level];
  return works && check ? `${reportLevels[level]}: ${check}` : reportLevels[level];
}

/** How wrong the clock of an agent is, from the seconds by which it is ahead. */
export function clockOff(seconds: number): string {
  return `${duration(Math.abs(seconds) * 1000)} ${seconds < 0 ? 'behind' : 'ahead'}`;
}

/** Change of an agent by an admin. */
export type AgentAction = 'approve' | 'pause' | 'resume' | 'revoke' | 'remove-pages';

type Standing = Pick<Agent, 'state'> & Partial<Pick<Agent, 'leaving_at'>>;

/** The actions that a state allows, the most frequent first. One that leaves is not resumed. */
export function actionsIn({ state, leaving_at: leavingAt }: Standing): AgentAction[] {
  switch (state) {
    case 'pending':
      return ['approve', 'revoke'];
    case 'approved':
      return ['pause', 'revoke'];
    case 'paused':
      return leavingAt ? ['revoke'] : ['resume', 'revoke'];
    default:
      return [];
  }
}

const bulkActions = ['approve', 'pause', 'resume'] as const;

/** The actions on several agents that at least one of these allows. */
export function bulkActionsOf(agents: readonly Standing[]): AgentAction[] {
  const allowed = new Set(agents.flatMap(actionsIn));
  return bulkActions.filter((action) => allowed.has(action));
}

/** The actions that an agent allows: its pages are removed once, after it was revoked. */
export function actionsOf(agent: Standing & Pick<Agent, 'pages_removed_at'>): AgentAction[] {
  const hasPages = agent.state === 'revoked' && !agent.pages_removed_at;
  return hasPages ? ['remove-pages'] : actionsIn(agent);
}

/** Texts of the dialog that confirms an action. */
interface AgentActionTexts {
  verb: string;
  title: (name: string) => string;
  consequences: string[];
  done: (name: string) => string;
  dangerous: boolean;
}

/** Texts of the dialog for each action. */
export const agentActionTexts: Record<AgentAction, AgentActionTexts> = {
  approve: {
    verb: 'Approve',
    title: (name) => `Approve ${name}?`,
    consequences: [
      'The subnet of its home address is delegated to it, if a registry knows that address.',
      'Delegation searches ask it to probe, and it gets the hosts to which it is nearest.',
      'It fetches pages with the contact address shown here, in the hours that its owner set.',
    ],
    done: (name) => `${name} is approved.`,
    dangerous: false,
  },
  pause: {
    verb: 'Pause',
    title: (name) => `Pause ${name}?`,
    consequences: [
      'It stops fetching at its next heartbeat, and gets no new hosts and no probes.',
      'It keeps its delegations, and what it has already fetched is still accepted.',
      'You can resume it at any time.',
    ],
    done: (name) => `${name} is paused.`,
    dangerous: false,
  },
  resume: {
    verb: 'Resume',
    title: (name) => `Resume ${name}?`,
    consequences: [
      'It gets hosts and probes again from its next heartbeat on.',
      'If its reports were found to be forged, they are judged anew from now on.',
    ],
    done: (name) => `${name} is working again.`,
    dangerous: false,
  },
  revoke: {
    verb: 'Revoke',
    title: (name) => `Revoke ${name}?`,
    consequences: [
      'Its key is rejected from now on: it gets no work, and its packages are refused.',
      'Its delegations end, and the searches of their subnets are reopened.',
      'This cannot be undone. To return, the machine must join again with a new token and a new key.',
    ],
    done: (name) => `${name} is revoked.`,
    dangerous: true,
  },
  'remove-pages': {
    verb: 'Remove its pages',
    title: (name) => `Remove all pages of ${name}?`,
    consequences: [
      'No public search finds what it fetched any more, at any coordinator.',
      'A page can be found again when another agent has fetched it.',
      'This cannot be undone.',
    ],
    done: (name) => `The pages of ${name} are being removed.`,
    dangerous: true,
  },
};
