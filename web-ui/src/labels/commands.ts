/** Commands of the palette: pages, frequent questions, and the inspector for what is typed. */
import { dayAgo } from '../format/time';
import { address, inspectionOf } from '../routing/route';
import type { DashboardPage } from '../routing/pages';

export interface Command {
  name: string;
  href: string;
}

/** Questions that are one filter away from a list. */
const questions = (now: number): Command[] => [
  { name: 'The slowest hosts', href: address('/hosts', { sort: 'slowest' }) },
  { name: 'Hosts with most errors', href: address('/hosts', { sort: 'errors' }) },
  { name: 'Hosts that failed', href: address('/hosts', { state: 'failed' }) },
  { name: 'Hosts that seeds named', href: address('/hosts', { seeded: 'true' }) },
  { name: 'Agents with most errors today', href: address('/errors', {}) },
  { name: 'Errors of yesterday', href: address('/errors', { day: 1 }) },
  {
    name: 'Delegations with the longest round trips',
    href: address('/delegations', { sort: 'slowest' }),
  },
  {
    name: 'Audit log of yesterday: what admins changed',
    href: address('/audit', { from: dayAgo(1, now), until: dayAgo(0, now) }),
  },
  { name: 'Incidents: paths and pages that became slower', href: address('/constraints') },
  { name: 'Agents waiting for approval', href: address('/agents', { state: 'pending' }) },
  { name: 'Unreachable agents', href: address('/agents', { presence: 'unreachable' }) },
];

/** The commands that fit the text. What is no part of a name is for the inspector. */
export function commandsFor(text: string, pages: readonly DashboardPage[], now: number): Command[] {
  const typed = text.trim();
  const all: Command[] = [
    ...pages.map(({ name, path }) => ({ name, href: path })),
    ...questions(now),
  ];
  if (typed === '') return all;
  const words = typed.toLowerCase().split(/\s+/);
  const fitting = all.filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  return [...fitting, { name: `Inspect “${typed}”`, href: inspectionOf(typed) }];
}
