import { fireEvent, render, screen } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { expect, it, vi } from 'vitest';
import SecretDialog from './SecretDialog.svelte';

const inDialog = { hidden: true };

function open() {
  const onclose = vi.fn();
  const children = createRawSnippet(() => ({ render: () => '<span>It is shown only now.</span>' }));
  render(SecretDialog, { title: 'Token', label: 'Token', secret: 'nc-1', children, onclose });
  return onclose;
}

const copy = () => fireEvent.click(screen.getByRole('button', { name: 'Copy', ...inDialog }));

it('is not closed by the Escape key', async () => {
  const onclose = open();
  const dialog = screen.getByRole('dialog', inDialog);
  const key = new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true });
  const cancel = new Event('cancel', { cancelable: true });
  for (const event of [key, cancel]) {
    await fireEvent(dialog, event);
    expect(event.defaultPrevented).toBe(true);
  }
  expect(onclose).not.toHaveBeenCalled();
  await fireEvent.click(screen.getByRole('button', { name: 'I have copied it', ...inDialog }));
  expect(onclose).toHaveBeenCalledOnce();
});

it.each([
  ['the page is not secure', false, undefined, /loaded over HTTPS\. Select the text/],
  ['the browser refuses', true, { writeText: () => Promise.reject(new Error()) }, /not allow/],
])(
  'says beside the secret that it was not copied, where %s',
  async (_, secure, clipboard, said) => {
    vi.stubGlobal('isSecureContext', secure);
    vi.stubGlobal('navigator', { ...navigator, clipboard });
    open();
    await copy();
    expect((await screen.findByText(said)).getAttribute('role')).toBe('alert');
  },
);

it('copies the secret', async () => {
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
  open();
  await copy();
  await screen.findByText('Copied');
  expect(writeText).toHaveBeenCalledWith('nc-1');
  expect(screen.queryByText(/Select the text/)).toBeNull();
});
