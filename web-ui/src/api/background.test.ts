import { expect, it, vi } from 'vitest';
import { Resource } from '../stores/resource.svelte';
import * as api from './calls';

it('says of requests that nobody asked for that they are in the background', async () => {
  const sent: (string | null)[] = [];
  vi.stubGlobal('fetch', (request: Request) => {
    sent.push(request.headers.get('nearcrawl-background'));
    return Promise.resolve(Response.json({ items: [] }));
  });
  const tasks = new Resource<unknown>();
  await tasks.load((signal) => api.tasks(signal));
  await tasks.refresh();
  await tasks.again();
  expect(sent).toEqual([null, '1', null]);
});
