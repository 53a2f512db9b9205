import { flushSync } from 'svelte';
import { expect, it, vi } from 'vitest';
import { session } from '../session/session.svelte';
import { Live } from './live.svelte';
import { refreshOn } from './refreshing.svelte';

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
