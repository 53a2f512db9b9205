import { expect, it } from 'vitest';
import { csv } from './csv';

it('writes nested fields as columns, and every row in the same order', () => {
  const rows = [
    { id: 'hst_1', agent: { id: 'agt_1', name: 'one' }, pages: 12 },
    { id: 'hst_2', agent: null, pages: 0 },
  ];
  expect(csv(rows)).toBe(
    'id,agent.id,agent.name,pages,agent\r\nhst_1,agt_1,one,12,\r\nhst_2,,,0,\r\n',
  );
});

it('quotes what needs it and defuses formulas', () => {
  expect(csv([{ name: 'a,"b"\n', sum: '=1+1', less: -3, words: ['x'] }])).toBe(
    'name,sum,less,words\r\n"a,""b""\n",\'=1+1,-3,"[""x""]"\r\n',
  );
});

it('is empty but for an empty line where there are no rows', () => {
  expect(csv([])).toBe('\r\n');
});
