import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as api from '../api/calls';
import { session } from './session.svelte';

/** Answers every call with what the test put in the queue. */
let answers: Response[];
let asked: string[];

beforeEach(() => {
  answers = [];
  asked = [];
  vi.stubGlobal('fetch', (input: Request | string, init?: RequestInit) => {
    const [method, url] =
      input instanceof Request ? [input.method, input.url] : [init?.method ?? 'GET', input];
    asked.push(`${method} ${new URL(url, location.origin).pathname}`);
    const answer = answers.shift();
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('no answer'));
  });
});

const admin = () => Response.json({ name: 'admin', role: 'admin' });
const refused = () =>
  Response.json({ title: 'Unauthorized', detail: 'Sign in first.' }, { status: 401 });

describe('the session', () => {
  it('is not asked for on public pages until somebody has signed in here', async () => {
    await session.recall(true);
    expect(session.user).toBeNull();
    expect(asked).toEqual([]);
    answers = [admin()];
    await session.signIn('admin', 'secret');
    answers = [admin()];
    await session.recall(true);
    expect(session.user?.name).toBe('admin');
    expect(asked).toEqual(['POST /api/v1/session', 'GET /api/v1/session']);
  });

  it('keeps the person when it expires, and goes on after signing in again', async () => {
    answers = [admin(), refused(), admin()];
    await session.signIn('admin', 'secret');
    const epoch = session.epoch;
    await expect(api.overview()).rejects.toThrow('Your session has ended');
    expect(session.expired).toBe(true);
    expect(session.user?.name).toBe('admin');
    await session.signIn('admin', 'secret');
    expect(session.expired).toBe(false);
    expect(session.epoch).toBe(epoch + 1);
  });

  it('does not call a wrong password an expired session', async () => {
    answers = [refused()];
    await expect(session.signIn('admin', 'wrong')).rejects.toMatchObject({ status: 401 });
    expect(session.expired).toBe(false);
    expect(session.user).toBeNull();
  });

  it('is over after signing out, also when it was over before', async () => {
    answers = [admin(), refused()];
    await session.signIn('admin', 'secret');
    await session.signOut();
    expect(session.user).toBeNull();
    expect(session.expired).toBe(false);
  });
});
