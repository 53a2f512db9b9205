import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import HostPage from './HostPage.svelte';

const host = {
  id: 'hst_1',
  name: 'https://example.org',
  state: 'delegated',
  address: null,
  subnet: null,
  agent: null,
  found_at: '2025-11-20T12:00:00Z',
  mean_ms: null,
};

it.each([
  ['an agent', { id: 'agt_1', name: 'cape' }, '2025-11-20, in a link that cape reported'],
  ['nobody', null, '2025-11-20, as a seed'],
])('says how the host was found where %s reported a link to it', async (_, found_by, said) => {
  const details = { host, found_by, errors: [], recent: [], is_silent: false };
  fakeCoordinator({ 'GET /hosts/hst_1': () => details });
  render(HostPage, { id: 'hst_1' });
  const value = (await screen.findByText('First seen')).nextElementSibling;
  expect(value?.textContent?.trim().replaceAll(/\s+/g, ' ')).toBe(said);
});
