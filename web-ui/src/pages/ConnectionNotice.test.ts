import { render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, expect, it } from 'vitest';
import { session } from '../session/session.svelte';
import { clock } from '../stores/clock.svelte';
import { live } from '../stores/live.svelte';
import ConnectionNotice from './ConnectionNotice.svelte';

const lost = Date.UTC(2026, 10, 20, 15, 43, 12);
const said = () => screen.getByRole('status').textContent?.trim();

/** What the notice says so many seconds after the connection was lost. */
async function after(seconds: number) {
  clock.now = lost + 1000 * seconds;
  await tick();
  return said();
}

afterEach(() => {
  live.waitingSince = undefined;
  clock.now = Date.now();
});

it('says since when there has been no connection, ten seconds after it was lost', async () => {
  live.waitingSince = lost;
  clock.now = lost;
  render(ConnectionNotice);
  expect(await after(9)).toBe('');
  expect(await after(10)).toMatch(/since\s+2026-11-20 15:43:12 UTC/);
  live.waitingSince = undefined;
  expect(await after(11)).toBe('');
});

it('leaves an expired session to the dialog that asks for a new sign-in', async () => {
  live.waitingSince = lost;
  session.expired = true;
  render(ConnectionNotice);
  expect(await after(60)).toBe('');
});
