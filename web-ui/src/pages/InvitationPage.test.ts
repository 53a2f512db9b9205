import { fireEvent, render, screen } from '@testing-library/svelte';
import { beforeEach, expect, it, vi } from 'vitest';
import { fakeCoordinator, held, refusal } from '../api/fake';
import InvitationPage from './InvitationPage.svelte';

beforeEach(() => {
  location.hash = '#secret';
});

const opened = {
  name: 'library',
  contact: 'crawler@example.edu',
  place: '',
  zone: 'Europe/Nicosia',
  spans: [],
  join_token: 'nc-token',
  expires_at: '2026-11-20T12:00:00Z',
};
const programs = [{ name: 'nearcrawl-agent', bytes: 3, sha256: 'ba78' }];
const open = async () =>
  fireEvent.click(await screen.findByRole('button', { name: 'Show the commands' }));
const commands = async () => (await screen.findByText(/nc-token/)).textContent;

it('opens the invitation although the downloads are not known, and loads them again', async () => {
  let refused = true;
  fakeCoordinator({
    'GET /downloads': () => (refused ? refusal(503, 'Later.') : { programs }),
    'POST /invitations/open': () => opened,
  });
  render(InvitationPage);
  await open();
  await screen.findByText('The downloads could not be loaded');
  expect(screen.queryByText('The link could not be used')).toBeNull();
  expect(screen.queryByText('No program to download')).toBeNull();
  expect(await commands()).toContain('are not known');

  refused = false;
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByRole('link', { name: 'nearcrawl-agent' });
  expect(await commands()).toContain('/downloads/nearcrawl-agent\n');
  expect(screen.queryByText('The downloads could not be loaded')).toBeNull();
});

it('says that there is no program where the coordinator offers none', async () => {
  fakeCoordinator({
    'GET /downloads': () => ({ programs: null, release_key: null }),
    'POST /invitations/open': () => opened,
  });
  render(InvitationPage);
  await open();
  await screen.findByText('No program to download');
  expect(await commands()).toContain('offers no download');
});

it('does not show the invitation of one link under another', async () => {
  const answer = held<unknown>();
  fakeCoordinator({
    'GET /downloads': () => ({ programs }),
    'POST /invitations/open': () => answer.answer,
  });
  render(InvitationPage);
  await open();
  location.hash = '#another';
  await fireEvent(window, new HashChangeEvent('hashchange'));
  answer.give(opened);
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Show the commands' });
  await vi.waitFor(() => expect(button.disabled).toBe(false));
  expect(screen.queryByText(/nc-token/)).toBeNull();
  location.hash = '#secret';
  await fireEvent(window, new HashChangeEvent('hashchange'));
  expect(await commands()).toContain('nc-token');
});

it('says why the link was refused, whatever there is to download', async () => {
  fakeCoordinator({
    'GET /downloads': () => ({ programs }),
    'POST /invitations/open': () => refusal(404, 'The link was used before.'),
  });
  render(InvitationPage);
  await open();
  await screen.findByText('The link could not be used');
  screen.getByText('The link was used before.');
});
