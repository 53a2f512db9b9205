import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { fakeCoordinator } from '../api/fake';
import AuditLogPage from './AuditLogPage.svelte';

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
        items: [],
        next_cursor: null,
        counts: { total: { count: 10, more }, actions },
      }),
    });
    render(AuditLogPage);
    const links = await screen.findAllByRole('link', { name: /^agent\./ });
    expect(links.map((link) => link.textContent)).toEqual(said);
  },
);
