/** Texts of incidents: subnets whose paths or pages became slower. */
import type { Incident } from '../api/model';
import type { Label } from './agent';

type State = Incident['state'];

const states: Readonly<Record<State, Label & { meaning: string }>> = {
  checking: {
    text: 'Checking the cause',
    tone: 'accent',
    meaning: 'A control probe by another agent tells a slow path from a slow server.',
  },
  searching: {
    text: 'Searching',
    tone: 'accent',
    meaning: 'The delegation search of the subnet is open again.',
  },
  away: {
    text: 'Moved for now',
    tone: 'warn',
    meaning: 'The subnet was moved; the former agent checks its path.',
  },
  returning: {
    text: 'Path recovered',
    tone: 'accent',
    meaning: 'A search decides whether the subnet returns.',
  },
  returned: { text: 'Returned', tone: 'good', meaning: 'The subnet returned to the former agent.' },
  moved: {
    text: 'Moved',
    tone: 'calm',
    meaning:
      'The subnet stayed where it moved: the former agent was not clearly nearer again for thirty days.',
  },
  server: {
    text: 'Slow server',
    tone: 'warn',
    meaning: 'The server itself was slow; agents take the new times as usual.',
  },
  stayed: { text: 'Stayed', tone: 'calm', meaning: 'No agent was nearer.' },
  undecided: { text: 'Undecided', tone: 'calm', meaning: 'No agent could measure.' },
  overtaken: {
    text: 'Overtaken',
    tone: 'calm',
    meaning:
      'The delegation changed for another reason, or the former agent may not have the subnet any more.',
  },
};

/** Text, colour and meaning of how far an incident has come; a newer coordinator may send others. */
export const incidentState = (state: State): Label & { meaning: string } =>
  states[state] ?? { text: state, tone: 'calm', meaning: '' };
