import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { router } from '../routing/router.svelte';
import CommandPalette from './CommandPalette.svelte';

const inDialog = { hidden: true };

it('goes to the chosen page, and closes', async () => {
  const onclose = vi.fn();
  render(CommandPalette, { onclose });
  screen.getByRole('dialog', { name: 'Commands', ...inDialog });
  const field = screen.getByRole('combobox', inDialog);
  await fireEvent.input(field, { target: { value: 'policy' } });
  await fireEvent.keyDown(field, { key: 'Enter' });
  expect(router.path).toBe('/policy');
  expect(onclose).toHaveBeenCalledOnce();
});

it('is closed by the Escape key', async () => {
  const onclose = vi.fn();
  render(CommandPalette, { onclose });
  const dialog = screen.getByRole('dialog', { name: 'Commands', ...inDialog });
  await fireEvent(dialog, new Event('cancel', { cancelable: true }));
  expect(onclose).toHaveBeenCalledOnce();
});
