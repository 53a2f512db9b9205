import { expect, test } from 'vitest';
import { pieces } from './identifiers';

test('identifiers with a page become links', () => {
  expect(pieces('41.0.0.0/16 is delegated to agent agt_2; end dlg_7')).toEqual([
    { text: '41.0.0.0/16 is delegated to agent ' },
    { text: 'agt_2', href: '/agents/agt_2' },
    { text: '; end ' },
    { text: 'dlg_7', href: '/delegations/dlg_7/explanation' },
  ]);
  expect(pieces('hst_3')).toEqual([{ text: 'hst_3', href: '/hosts/hst_3' }]);
});

test('other words stay text', () => {
  for (const text of ['pin_1', 'agt_', 'my_agt_1x', 'admin']) {
    expect(pieces(text)).toEqual([{ text }]);
  }
  expect(pieces('')).toEqual([]);
});
