/** The coordinator in tests: it answers by method and path, and keeps the calls that it received. */
import { vi } from 'vitest';

/** A call as the coordinator received it. */
export interface Call {
  method: string;
  /** Path below `/api/v1`. */
  path: string;
  query: URLSearchParams;
  /** The body, read as JSON; null where there is none. */
  body: unknown;
}

/** Answers by method and path, such as `GET /agents`: a value, a whole response, or a promise of one. */
export type Answers = Record<string, (call: Call) => unknown>;

/** Replaces `fetch` until the test ends. A call without an answer is refused with 404. */
export function fakeCoordinator(answers: Answers): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal('fetch', async (request: Request) => {
    const call = await callOf(request);
    calls.push(call);
    const answer = await answers[`${call.method} ${call.path}`]?.(call);
    if (answer instanceof Response) return answer;
    return answer === undefined ? refusal(404, 'Not found.') : Response.json(answer);
  });
  return calls;
}

async function callOf(request: Request): Promise<Call> {
  const url = new URL(request.url, location.origin);
  const text = await request.text();
  return {
    method: request.method,
    path: url.pathname.replace(/^\/api\/v1/, ''),
    query: url.searchParams,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** A problem document. */
export const refusal = (status: number, detail: string): Response =>
  Response.json({ title: `Status ${status}`, detail }, { status });

/** An answer that the test gives later. */
export function held<T>(): { answer: Promise<T>; give: (value: T) => void } {
  let give: (value: T) => void = () => {};
  const answer = new Promise<T>((resolve) => (give = resolve));
  return { answer, give };
}
