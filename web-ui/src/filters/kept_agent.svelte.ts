import type { AgentRef } from '../api/model';

/**
 * Keeps the chosen agent while a list offers others, whatever is looked for. Made while a component
 * is made.
 */
export function keptAgent(offered: () => AgentRef[], id: () => string, known?: AgentRef) {
  let chosen = $state.raw(known);
  const isOffered = $derived(offered().some((agent) => agent.id === id()));
  $effect(() => {
    chosen = offered().find((agent) => agent.id === id()) ?? chosen;
  });
  return {
    /** The chosen agent, if the list does not offer it. */
    get apart(): AgentRef | undefined {
      return chosen?.id === id() && !isOffered ? chosen : undefined;
    },
  };
}
