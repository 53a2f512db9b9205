import { flushSync } from 'svelte';
import { expect, it, vi } from 'vitest';
import { session } from '../session/session.svelte';
import { Live } from './live.svelte';
import { loadWith, refreshOn } from './refreshing.svelte';
import { Resource } from './resource.svelte';

it('loads again after a change, but neither at first nor without a session', () => {
  const live = new Live();
  live.agents = 1;
  const refresh = vi.fn(() => Promise.resolve());
  const stop = $effect.root(() => refreshOn(() => live.agents, { refresh }));
  flushSync();
  expect(refresh).not.toHaveBeenCalled();
  live.agents = 2;
  flushSync();
  expect(refresh).toHaveBeenCalledOnce();
  session.expired = true;
  live.agents = 3;
  flushSync();
  session.expired = false;
  flushSync();
  expect(refresh).toHaveBeenCalledOnce();
  stop();
});

it('loads when what the loader reads changes, and after a sign-in, until a stop', async () => {
  const live = new Live();
  const found = new Resource<number>();
  const signals: AbortSignal[] = [];
  const loader = vi.fn((signal: AbortSignal) => {
    signals.push(signal);
    return Promise.resolve(live.agents);
  });
  const stop = $effect.root(() => loadWith(found, loader));
  flushSync();
  expect(loader).toHaveBeenCalledOnce();
  await vi.waitFor(() => expect(found.isEarlier).toBe(false));
  live.agents = 1;
  flushSync();
  expect(loader).toHaveBeenCalledTimes(2);
  expect(found.isEarlier).toBe(true);
  session.epoch += 1;
  flushSync();
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true, false]);
  stop();
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true, true]);
});
