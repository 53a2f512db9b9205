import { describe, expect, it } from 'vitest';
import { held } from '../api/fake';
import { Problem } from '../api/problem';
import { Resource } from './resource.svelte';

const refused = new Problem({ status: 503, title: 'Unavailable', detail: 'Later.' });

describe('a resource', () => {
  it('drops an answer that comes after a newer question', async () => {
    const resource = new Resource<string>();
    const slow = held<string>();
    const fast = held<string>();
    const first = resource.load(() => slow.answer);
    const second = resource.load(() => fast.answer);
    fast.give('new');
    await second;
    slow.give('old');
    await first;
    expect(resource.value).toBe('new');
    expect(resource.busy).toBe(false);
  });

  it('raises the signal of a question that no longer counts', () => {
    const resource = new Resource<string>();
    const signals: AbortSignal[] = [];
    const never = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<string>(() => {});
    };
    void resource.load(never);
    void resource.load(never);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
  });

  it('keeps the value beside the problem, and forgets the problem with the next success', async () => {
    const resource = new Resource<string>();
    let answer = () => Promise.resolve('value');
    await resource.load(() => answer());
    answer = () => Promise.reject(refused);
    await resource.again();
    expect(resource.value).toBe('value');
    expect(resource.problem).toBe(refused);
    answer = () => Promise.resolve('next');
    await resource.again();
    expect([resource.value, resource.problem]).toEqual(['next', undefined]);
  });

  it('keeps the value until another question is answered, and drops it if that fails', async () => {
    const resource = new Resource<string>();
    await resource.load(() => Promise.resolve('value'));
    const load = resource.load(() => Promise.reject(refused));
    expect(resource.value).toBe('value');
    await load;
    expect([resource.value, resource.problem]).toEqual([undefined, refused]);
  });

  it('refreshes without showing a wait', async () => {
    const resource = new Resource<number>();
    let asked = 0;
    await resource.load(() => Promise.resolve((asked += 1)));
    const refresh = resource.refresh();
    expect(resource.busy).toBe(false);
    await refresh;
    expect(resource.value).toBe(2);
  });

  it('asks once more, after an answer under way, for what changed meanwhile', async () => {
    const resource = new Resource<string>();
    const [old, fresh] = [held<string>(), held<string>()];
    let asked = 0;
    const load = resource.load(() => ((asked += 1) === 1 ? old : fresh).answer);
    await resource.refresh();
    await resource.refresh();
    expect(asked).toBe(1);
    old.give('old');
    fresh.give('new');
    await load;
    expect([asked, resource.value]).toEqual([2, 'new']);
  });

  it('does not load again after a stop', async () => {
    const resource = new Resource<string>();
    const slow = held<string>();
    let asked = 0;
    const load = resource.load(() => ((asked += 1), slow.answer));
    await resource.refresh();
    resource.stop();
    slow.give('late');
    await load;
    expect([asked, resource.value]).toEqual([1, undefined]);
  });

  it('has nothing to load again after it was cleared', async () => {
    const resource = new Resource<string>();
    await resource.load(() => Promise.resolve('former'));
    resource.clear();
    await resource.refresh();
    await resource.again();
    expect(resource.value).toBeUndefined();
  });
});
