/** The words of an agent as people read them. */
import type { Agent } from '../api/model';
import type { Tone } from './delegation';

/** A label with the tone in which it is shown. */
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

/** Where an agent stands with the admins. */
export function stateLabel(state: Agent['state']): Label {
  return states[state];
}

/** Whether an agent is there. */
export function presenceLabel(presence: Agent['presence']): Label {
  return presences[presence];
}

/** What an admin can do to an agent. */
export type AgentAction = 'approve' | 'pause' | 'resume' | 'revoke';

/** The actions that make sense in a state, the usual one first. */
export function actionsIn(state: string): AgentAction[] {
  switch (state) {
    case 'pending':
      return ['approve', 'revoke'];
    case 'approved':
      return ['pause', 'revoke'];
    case 'paused':
      return ['resume', 'revoke'];
    default:
      return [];
  }
}

/** Everything the confirming dialog says about an action. */
export interface ActionWords {
  verb: string;
  title: (name: string) => string;
  consequences: string[];
  done: (name: string) => string;
  dangerous: boolean;
}

/** What will happen, said before it does. */
export const actionWords: Record<AgentAction, ActionWords> = {
  approve: {
    verb: 'Approve',
    title: (name) => `Approve ${name}?`,
    consequences: [
      'The subnet of its home address is delegated to it, if a registry knows that address.',
      'It is asked to probe, and hosts that it is near to are given to it.',
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
    consequences: ['It gets hosts and probes again, beginning with its next heartbeat.'],
    done: (name) => `${name} is working again.`,
    dangerous: false,
  },
  revoke: {
    verb: 'Revoke',
    title: (name) => `Revoke ${name}?`,
    consequences: [
      'Its key is refused from now on: it gets no work, and nothing that it ships is taken.',
      'Its delegations become free; another agent is searched for each host in them.',
      'This cannot be undone. To return, the machine must join again with a new token and a new key.',
    ],
    done: (name) => `${name} is revoked.`,
    dangerous: true,
  },
};
