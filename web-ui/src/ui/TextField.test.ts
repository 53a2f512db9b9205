import { render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { expect, it } from 'vitest';
import TextField from './TextField.svelte';

const children = createRawSnippet(() => ({ render: () => '<span>Letters and digits.</span>' }));

it('is described by its hint and by why it was refused', async () => {
  const { rerender } = render(TextField, { label: 'Name', value: '', maxlength: 100 });
  const input = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name' });
  expect(input.maxLength).toBe(100);
  expect(input.getAttribute('aria-describedby')).toBeNull();
  expect(input.getAttribute('aria-invalid')).toBe('false');
  await rerender({ children, wrong: 'is taken' });
  expect(input.getAttribute('aria-invalid')).toBe('true');
  const ids = input.getAttribute('aria-describedby')?.split(' ') ?? [];
  const texts = ids.map((id) => document.getElementById(id)?.textContent);
  expect(texts).toEqual(['Letters and digits.', 'is taken']);
});
