import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { beforeEach, expect, it } from 'vitest';
import { held } from '../api/fake';
import { Resource } from '../stores/resource.svelte';
import Loaded from './Loaded.svelte';

let found: Resource<string>;
let answer: () => Promise<string>;
const refused = () => Promise.reject(new Error('The database is away.'));
const children = createRawSnippet((value: () => string) => ({
  render: () => `<p>${value()}</p>`,
}));

beforeEach(async () => {
  found = new Resource<string>();
  answer = () => Promise.resolve('three agents');
  render(Loaded<string>, { found, what: 'agents', children });
  void found.load(() => answer());
  await screen.findByText('Loading the agents');
  await screen.findByText('three agents');
});

it('keeps the value beside the problem of a refresh', async () => {
  expect(screen.queryByText('Loading the agents')).toBeNull();
  answer = refused;
  await found.refresh();
  await screen.findByText('The agents could not be loaded');
  screen.getByText('three agents');
  answer = () => Promise.resolve('three agents');
  await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(screen.queryByText('The agents could not be loaded')).toBeNull());
});

it('does not show the value of an earlier question beside the problem of another one', async () => {
  await found.load(refused);
  await screen.findByText('The agents could not be loaded');
  expect(screen.queryByText('three agents')).toBeNull();
});

it('keeps the value while another question is answered after a failure', async () => {
  answer = refused;
  await found.refresh();
  const question = held<string>();
  void found.load(() => question.answer);
  await screen.findByText('The agents could not be loaded');
  screen.getByText('three agents');
  question.give('three agents');
  await waitFor(() => expect(screen.queryByText('The agents could not be loaded')).toBeNull());
  screen.getByText('three agents');
});
