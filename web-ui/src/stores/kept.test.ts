import { expect, it } from 'vitest';
import { keep, kept } from './kept';

/** A storage that keeps one text. */
function storage(): Storage {
  let text: string | null = null;
  const only = {
    getItem: () => text,
    setItem: (_: string, value: string) => {
      text = value;
    },
    removeItem: () => {
      text = null;
    },
  };
  return only as unknown as Storage;
}

function refused(): Storage {
  throw new Error('SecurityError');
}

it('keeps a text until it is removed', () => {
  const place = storage();
  keep(() => place, 'theme', 'dark');
  expect(kept(() => place, 'theme')).toBe('dark');
  keep(() => place, 'theme', null);
  expect(kept(() => place, 'theme')).toBeNull();
});

it('goes on where the browser keeps nothing', () => {
  keep(refused, 'theme', 'dark');
  expect(kept(refused, 'theme')).toBeNull();
});
