import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import { router } from '../routing/router.svelte';
import { address } from '../routing/route';
import SearchPage from './SearchPage.svelte';

const nothing = { query: '猫', total: 0, took_ms: 1, items: [], next_cursor: null };

it('sends no query that is too long, and says so at the box', async () => {
  const calls = fakeCoordinator({ 'GET /search': () => nothing });
  render(SearchPage);
  const box = screen.getByRole<HTMLInputElement>('searchbox');
  await fireEvent.input(box, { target: { value: '猫'.repeat(334) } });
  expect(box.getAttribute('aria-invalid')).toBe('true');
  expect(screen.getByRole('status').textContent).toMatch(/1,002 bytes of at most 1,000/);
  await fireEvent.click(screen.getByRole('button', { name: 'Search' }));
  expect(router.here).toBe('/');

  await fireEvent.input(box, { target: { value: ` ${'猫'.repeat(333)} ` } });
  expect(box.getAttribute('aria-invalid')).toBe('false');
  await fireEvent.click(screen.getByRole('button', { name: 'Search' }));
  await screen.findByRole('heading', { name: /^Nothing fits/ });
  expect(calls.map(({ query }) => query.get('q'))).toEqual(['猫'.repeat(333)]);
});

it('sends no query of its address that is too long', async () => {
  const calls = fakeCoordinator({});
  router.go(address('/', { q: 'a'.repeat(1001) }));
  render(SearchPage);
  await screen.findByText(/^Nothing was searched for/);
  expect(screen.getByText(/1,001 bytes of at most 1,000/)).toBeTruthy();
  expect(calls).toEqual([]);
});
