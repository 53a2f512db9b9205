import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import Sidebar from './Sidebar.svelte';

it('signs out only if the page may be left', async () => {
  const calls = fakeCoordinator({ 'DELETE /session': () => new Response(null, { status: 204 }) });
  router.go('/policy', { replace: true });
  render(Sidebar, { onkeys: () => {} });
  const signOut = () => fireEvent.click(screen.getByRole('button', { name: 'Sign out' }));

  router.mayLeave = () => false;
  await signOut();
  expect(router.path).toBe('/policy');
  expect(calls).toEqual([]);

  router.mayLeave = () => true;
  await signOut();
  expect(router.path).toBe('/');
  await vi.waitFor(() => expect(calls.map(({ path }) => path)).toEqual(['/session']));
});
