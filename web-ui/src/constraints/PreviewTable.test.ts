import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { emptyPreview as nothing } from './empty_preview';
import PreviewTable from './PreviewTable.svelte';

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
