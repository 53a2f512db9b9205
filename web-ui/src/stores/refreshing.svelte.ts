/** Values that load again when something changes. */
import { untrack } from 'svelte';
import { asProblem } from '../api/problem';
import { session } from '../session/session.svelte';
import { live } from './live.svelte';
import type { Loader, Resource } from './resource.svelte';

const second = 1000;
/** Seconds between two attempts while the coordinator is away. */
const retryAfter = 5;

/** Waits a second, or throws when the signal aborts. */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((passed) => setTimeout(passed, second));
  signal.throwIfAborted();
}

/** Whether the live connection is lost as well, which may be noticed a moment after the request. */
async function isConnectionLost(signal: AbortSignal): Promise<boolean> {
  if (live.connected) await pause(signal);
  return live.waitingSince !== undefined;
}

/** Waits until the live connection is back or the next attempt is due. */
async function waitForConnection(signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < retryAfter && live.waitingSince !== undefined; waited += 1)
    await pause(signal);
}

/**
 * Loads a value. While the coordinator is away, which the page says once for all its lists, the
 * load goes on instead of failing.
 */
async function patiently<T>(
  found: Resource<T>,
  loader: Loader<T>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await loader(signal);
    } catch (thrown) {
      if (!asProblem(thrown).isAway || !(await isConnectionLost(signal))) throw thrown;
      found.clearEarlier();
      await waitForConnection(signal);
    }
  }
}

/**
 * Loads a value, and again after each sign-in and whenever something changes that the loader reads
 * before it waits. Call this while a component is initialised: it creates an effect.
 */
export function loadWith<T>(found: Resource<T>, loader: Loader<T>): void {
  $effect(() => {
    void session.epoch;
    // Each time it is another question, which a new function tells the resource.
    void found.load((signal) => patiently(found, loader, signal));
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
