import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Live, type Source } from './live.svelte';

/** An event source whose events the test sends. */
class FakeSource implements Source {
  readyState = 0;
  onopen: ((event: Event) => void) | null = null;
  onerror: ((event: Event) => void) | null = null;
  closed = false;
  #listeners = new Map<string, (event: MessageEvent<string>) => void>();

  addEventListener(name: string, listener: (event: MessageEvent<string>) => void): void {
    this.#listeners.set(name, listener);
  }
  close(): void {
    this.closed = true;
  }
  send(name: string, data: unknown): void {
    this.#listeners.get(name)?.(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
}

let sources: FakeSource[];
let live: Live;

function newest(): FakeSource {
  const source = sources.at(-1);
  if (!source) throw new Error('nothing was opened');
  return source;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network in this test')));
  sources = [];
  live = new Live(() => {
    const source = new FakeSource();
    sources.push(source);
    return source;
  });
});
afterEach(() => {
  live.stop();
  vi.useRealTimers();
});

describe('live numbers', () => {
  it('come by one connection, however often somebody starts it', () => {
    live.start();
    live.start();
    expect(sources.map((source) => source.closed)).toEqual([true, false]);
    newest().send('overview', { pages: { ingested: 7 } });
    expect(live.overview?.pages.ingested).toBe(7);
  });

  it('tell of a burst of changes once', () => {
    live.start();
    for (let i = 0; i < 10; i += 1) newest().send('agents', { changed: true });
    expect(live.agents).toBe(0);
    vi.advanceTimersByTime(2000);
    expect(live.agents).toBe(1);
    expect(live.delegations).toBe(0);
  });

  it('take it that something changed before they were live, also when they come back', () => {
    live.start();
    for (const times of [1, 2]) {
      newest().onopen?.(new Event('open'));
      vi.advanceTimersByTime(2000);
      expect([live.agents, live.delegations]).toEqual([times, times]);
      newest().onerror?.(new Event('error'));
    }
  });

  it('know whether they are live', () => {
    live.start();
    newest().onopen?.(new Event('open'));
    expect(live.connected).toBe(true);
    newest().onerror?.(new Event('error'));
    expect(live.connected).toBe(false);
    expect(sources).toHaveLength(1); // the browser reconnects by itself
  });

  it('know since when they wait for a connection, over all attempts', () => {
    vi.setSystemTime(1000);
    const stop = live.start();
    expect(live.waitingSince).toBe(1000);
    newest().onopen?.(new Event('open'));
    expect(live.waitingSince).toBeUndefined();
    vi.setSystemTime(2000);
    newest().readyState = 2;
    newest().onerror?.(new Event('error'));
    vi.advanceTimersByTime(6000);
    newest().onerror?.(new Event('error'));
    expect([sources.length, live.waitingSince]).toEqual([2, 2000]);
    stop();
    expect(live.waitingSince).toBeUndefined();
  });

  it('are started by an effect once', () => {
    const stop = $effect.root(() => {
      $effect(() => live.start());
    });
    flushSync();
    newest().onerror?.(new Event('error'));
    flushSync();
    expect(sources).toHaveLength(1);
    stop();
  });

  it('have no connection while the page is hidden', () => {
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    live.start();
    expect(sources).toHaveLength(0);
    const show = (shown: boolean) => {
      hidden.mockReturnValue(!shown);
      document.dispatchEvent(new Event('visibilitychange'));
    };
    show(true);
    newest().onopen?.(new Event('open'));
    show(false);
    expect([newest().closed, live.connected]).toEqual([true, false]);
    show(true);
    expect(sources).toHaveLength(2);
    live.stop();
    show(true);
    expect(sources).toHaveLength(2);
  });

  it('connect again after a refusal, and not after a stop', () => {
    live.start();
    newest().readyState = 2;
    newest().onerror?.(new Event('error'));
    vi.advanceTimersByTime(6000);
    expect(sources).toHaveLength(2);
    newest().readyState = 2;
    newest().onerror?.(new Event('error'));
    live.stop();
    vi.advanceTimersByTime(60_000);
    expect(sources).toHaveLength(2);
  });
});
