import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Preview } from '../api/model';
import PreviewTable from './PreviewTable.svelte';

const nothing: Preview = {
  subnets: 0,
  hosts: 0,
  pages_per_day: 0,
  cost_before_ms: 0,
  cost_after_ms: 0,
  unmeasured: 0,
  lent: 0,
  reassignments: [],
  agents: [],
};

it('says how many subnets stay because a region has them', () => {
  render(PreviewTable, { preview: { ...nothing, lent: 2 } });
  const shown = screen.getByRole('region', { name: 'Preview' });
  expect(shown.textContent).toContain('No subnet is reassigned now.');
  expect(shown.textContent).toContain('2 subnets stay with the present agent: lent to a region');
});

it('names no region where no subnet is lent', () => {
  render(PreviewTable, { preview: nothing });
  expect(screen.queryByText(/region/)).toBeNull();
});
