/** Lists that load again when something changes. */
import { untrack } from 'svelte';
import { session } from '../session/session.svelte';
import type { Resource } from './resource.svelte';

/**
 * Loads the values again whenever `change` has another value, but not at first: then they are being
 * loaded. Call this while a component is initialised: it creates an effect.
 */
export function refreshOn(
  change: () => unknown,
  ...found: Pick<Resource<unknown>, 'refresh'>[]
): void {
  let before = untrack(change);
  $effect(() => {
    const now = change();
    if (now === before) return;
    before = now;
    // Without a session all of them would fail; the next sign-in loads them.
    untrack(() => {
      if (!session.expired) for (const each of found) void each.refresh();
    });
  });
}
