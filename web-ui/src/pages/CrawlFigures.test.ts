import { render, screen } from '@testing-library/svelte';
import { it } from 'vitest';
import { fakeCoordinator, refusal } from '../api/fake';
import CrawlFigures from './CrawlFigures.svelte';

it('says of each figure why it could not be loaded', async () => {
  fakeCoordinator({
    'GET /progress': () => refusal(503, 'The database is away.'),
    'GET /locality': () => ({
      fetches: 0,
      spent_s: null,
      random_s: null,
      agents_without_place: 0,
    }),
  });
  render(CrawlFigures);
  await screen.findByText('could not be loaded: The database is away.');
  await screen.findByText('nothing fetched yet');
});
