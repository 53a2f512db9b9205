/** Values that load again when something changes. */
import { untrack } from 'svelte';
import { session } from '../session/session.svelte';
import type { Loader, Resource } from './resource.svelte';

/**
 * Loads a value, and again after each sign-in and whenever something changes that the loader reads
 * before it waits. Call this while a component is initialised: it creates an effect.
 */
export function loadWith<T>(found: Resource<T>, loader: Loader<T>): void {
  $effect(() => {
    void session.epoch;
    // Each time it is another question, which a new function tells the resource.
    void found.load((signal) => loader(signal));
    return () => found.stop();
  });
}

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
