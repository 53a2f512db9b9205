import { fireEvent, render, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';
import { fakeCoordinator, held } from '../api/fake';
import SeedsPage from './SeedsPage.svelte';

it('keeps the URLs that are typed while others are being added', async () => {
  const adding = held<unknown>();
  fakeCoordinator({ 'POST /seeds': () => adding.answer });
  render(SeedsPage);
  const box = screen.getByLabelText<HTMLTextAreaElement>('URLs, one to a line');
  await fireEvent.input(box, { target: { value: 'https://a.example/' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Add 1 seed' }));
  await fireEvent.input(box, { target: { value: 'https://a.example/\nhttps://b.example/' } });
  adding.give({ accepted: 1, already_known: 0, rejected: [] });
  await vi.waitFor(() => expect(box.value).toBe('https://b.example/'));
});

it('says how many URLs were queued', async () => {
  fakeCoordinator({ 'POST /seeds': () => ({ accepted: 2, already_known: 1, rejected: [] }) });
  render(SeedsPage);
  const box = screen.getByLabelText<HTMLTextAreaElement>('URLs, one to a line');
  await fireEvent.input(box, { target: { value: 'https://a.example/' } });
  await fireEvent.click(screen.getByRole('button', { name: 'Add 1 seed' }));
  await screen.findByText('2 URLs queued');
  await screen.findByText(/1 was known already/);
});
