import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import AuditLogPage from './AuditLogPage.svelte';

const entry = {
  id: 'aud_1',
  at: '2026-11-20T12:00:00Z',
  actor: 'admin',
  action: 'policy.change',
  subject: 'policy',
  detail: {},
};

it.each([
  [false, ['agent.approve (6)', 'agent.pause (4)']],
  [true, ['agent.approve (6+)', 'agent.pause (4+)']],
])(
  'counts kinds of entries; where older ones are not counted (%s), at least',
  async (more, said) => {
    const actions = [
      { action: 'agent.approve', entries: 6 },
      { action: 'agent.pause', entries: 4 },
    ];
    fakeCoordinator({
      'GET /audit/entries': () => ({
        items: [entry],
        next_cursor: null,
        counts: { total: { count: 10, more }, actions },
      }),
    });
    render(AuditLogPage);
    await screen.findByText('2026-11-20 12:00:00 UTC');
    const links = await screen.findAllByRole('link', { name: /^agent\./ });
    expect(links.map((link) => link.textContent)).toEqual(said);
  },
);
