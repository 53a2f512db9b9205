import { render } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { router } from '../routing/router.svelte';
import Pager from './Pager.svelte';

it('goes one part back where this one has become empty', async () => {
  router.go('/hosts?cursor=b', { trail: ['', 'a'] });
  const props = { what: 'hosts', path: '/hosts', query: {}, next: null };
  const { rerender } = render(Pager, { ...props, empty: false });
  expect(router.query('cursor')).toBe('b');
  await rerender({ ...props, empty: true });
  await vi.waitFor(() => expect(router.query('cursor')).toBe('a'));
  expect(router.trail).toEqual(['']);
});
