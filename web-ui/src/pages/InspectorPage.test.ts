import { render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, held, type Call } from '../api/fake';
import { router } from '../routing/router.svelte';
import InspectorPage from './InspectorPage.svelte';

const inspection = (subject: string) => ({
  subject,
  conclusion: `The conclusion about ${subject}.`,
  is_asking: false,
  steps: [],
});

it('shows no conclusion about what was inspected before', async () => {
  const second = held<unknown>();
  fakeCoordinator({
    'GET /explain': ({ query }: Call) =>
      query.get('q') === 'a.example' ? inspection('a.example') : second.answer,
  });
  router.go('/inspector?q=a.example', { replace: true });
  render(InspectorPage);
  await screen.findByRole('heading', { name: 'The conclusion about a.example.' });
  router.go('/inspector?q=b.example');
  await vi.waitFor(() =>
    expect(screen.queryAllByText('The conclusion about a.example.')).toHaveLength(0),
  );
  second.give(inspection('b.example'));
  await screen.findByRole('heading', { name: 'The conclusion about b.example.' });
  expect(screen.getByRole('status').textContent).toBe('The conclusion about b.example.');
});
