/** Which agents a choice offers. */
import type { Agent, AgentRef, AgentState, MeasuredAgent } from '../api/model';

type Listed = Pick<Agent, 'id' | 'name' | 'state'>;

/** What there is to choose from. */
interface Known {
  /** Agents that have measured, the nearest first. */
  measured: MeasuredAgent[];
  /** Agents in the list, which may end before the last one. */
  found: Listed[];
  /** What the list was searched for. */
  text: string;
  /** Whether an agent in this state may be chosen. */
  may: (agent: AgentRef, state: AgentState) => boolean;
}

/** The measured agents, also those that are not in the list; and the others. */
export function choicesOf({ measured, found, text, may }: Known): {
  nearest: MeasuredAgent[];
  others: AgentRef[];
} {
  const listed = new Set(found.map(({ id }) => id));
  const times = new Set(measured.map(({ agent }) => agent.id));
  return {
    nearest: measured.filter(
      ({ agent, state }) => may(agent, state) && (text === '' || listed.has(agent.id)),
    ),
    others: found.filter((agent) => may(agent, agent.state) && !times.has(agent.id)),
  };
}
