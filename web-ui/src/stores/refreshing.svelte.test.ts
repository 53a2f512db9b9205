import { flushSync } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';
import { problemOf, unreachable, type Problem } from '../api/problem';
import { session } from '../session/session.svelte';
import { Live, live } from './live.svelte';
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
  await vi.waitFor(() => expect(found.busy).toBe(false));
  live.agents = 1;
  flushSync();
  expect(loader).toHaveBeenCalledTimes(2);
  expect(found.busy).toBe(true);
  session.epoch += 1;
  flushSync();
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true, false]);
  stop();
  expect(signals.map((signal) => signal.aborted)).toEqual([false, true, true]);
});

/** A load that fails until its answer is given; `ask` puts another question in its place. */
function loading(problem: Problem) {
  const found = new Resource<string>();
  const question = $state({ asked: 'first' });
  const answers: Record<string, string> = {};
  const stop = $effect.root(() =>
    loadWith(found, () => {
      const answer = answers[question.asked];
      return answer === undefined ? Promise.reject(problem) : Promise.resolve(answer);
    }),
  );
  flushSync();
  const ask = (asked: string) => {
    question.asked = asked;
    flushSync();
  };
  return { found, answers, ask, stop };
}

afterEach(() => {
  live.connected = false;
  live.waitingSince = undefined;
  vi.useRealTimers();
});

it.each([
  ['nobody answers', unreachable()],
  ['a proxy answers in its place', problemOf(502, '<html>')],
])('goes on loading while the coordinator is away and %s', async (_, problem) => {
  vi.useFakeTimers();
  // The request fails before the loss of the connection is noticed.
  live.connected = true;
  const { found, answers, stop } = loading(problem);
  await vi.advanceTimersByTimeAsync(10);
  live.connected = false;
  live.waitingSince = Date.now();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([found.busy, found.problem]).toEqual([true, undefined]);
  answers['first'] = 'value';
  live.waitingSince = undefined;
  await vi.advanceTimersByTimeAsync(1000);
  expect([found.busy, found.value]).toEqual([false, 'value']);
  stop();
});

it('tries again while the coordinator is away, without the answer to another question', async () => {
  vi.useFakeTimers();
  live.waitingSince = Date.now();
  const { found, answers, ask, stop } = loading(unreachable());
  answers['first'] = 'value';
  await vi.advanceTimersByTimeAsync(6000);
  expect(found.value).toBe('value');
  ask('second');
  await vi.advanceTimersByTimeAsync(6000);
  expect([found.busy, found.value]).toEqual([true, undefined]);
  stop();
});

it.each([
  ['the live connection is there', unreachable(), true],
  ['the page has no live connection', unreachable(), false],
  ['the coordinator itself refuses', problemOf(503, { title: 'Unavailable' }), false],
])('shows the problem if %s', async (_, problem, connected) => {
  vi.useFakeTimers();
  live.connected = connected;
  const { found, stop } = loading(problem);
  await vi.advanceTimersByTimeAsync(1000);
  expect([found.busy, found.problem]).toEqual([false, problem]);
  stop();
});
