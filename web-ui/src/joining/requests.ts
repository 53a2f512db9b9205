/** The list of requests to host an agent. */
import * as api from '../api/calls';
import type { JoinRequest, Page } from '../api/model';

/** More than may wait at once. */
const allThatWait = 500;

/** A part of the list of requests: those that wait are all in the first, before the decided ones. */
export async function waitingFirst(
  query: api.PageQuery,
  signal?: AbortSignal,
): Promise<Page<JoinRequest>> {
  const waiting = query.cursor
    ? []
    : (await api.joinRequests({ state: 'waiting', limit: allThatWait }, signal)).items;
  const { items, next_cursor } = await api.joinRequests(query, signal);
  const decided = items.filter(({ state }) => state !== 'waiting');
  return { items: [...waiting, ...decided], next_cursor };
}
