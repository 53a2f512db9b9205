import { describe, expect, it, vi } from 'vitest';
import { currentSession } from './calls';
import { asProblem, Problem, problemOf } from './problem';

describe('a problem', () => {
  it('carries what the coordinator said', () => {
    const problem = problemOf(422, {
      title: 'Unprocessable Content',
      detail: 'ttl_s: give 60 to 2592000 seconds',
      request_id: 'req_1',
      errors: [{ field: 'ttl_s', message: 'give 60 to 2592000 seconds' }, { nonsense: 1 }],
    });
    expect(problem.detail).toBe('ttl_s: give 60 to 2592000 seconds');
    expect(problem.requestId).toBe('req_1');
    expect(problem.fields).toEqual([{ field: 'ttl_s', message: 'give 60 to 2592000 seconds' }]);
  });

  it('makes a sentence of anything, and finds the request id in the header', () => {
    const problem = problemOf(502, '<html>', new Headers({ 'x-request-id': 'req_2' }));
    expect(problem.detail).toBe('The coordinator answered with status 502.');
    expect(problem.requestId).toBe('req_2');
  });

  it('is itself when thrown, and means "no answer" when fetch gave up', async () => {
    const problem = new Problem({ status: 409, title: 'Conflict', detail: 'Already paused.' });
    expect(asProblem(problem)).toBe(problem);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(currentSession()).rejects.toMatchObject({ status: 0, title: 'No answer' });
    expect(asProblem('x').detail).toBe('x');
  });

  it('does not blame the coordinator for an error of the page', () => {
    const { status, detail } = asProblem(new TypeError('x is undefined'));
    expect([status, detail]).toEqual([0, 'x is undefined']);
  });
});
