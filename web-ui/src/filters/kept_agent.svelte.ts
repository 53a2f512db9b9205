import type { AgentRef } from '../api/model';

/**
 * Keeps the chosen agent available when a search no longer lists it. Call this while a component is
 * initialised: it creates an effect.
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
