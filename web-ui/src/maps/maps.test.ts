import { describe, expect, it } from 'vitest';
import { heatClass, heatClasses } from './heat';
import { cellPath, hilbertCell } from './hilbert';
import { agentsAmong, partsOf, pathTo } from './prefix';

describe('the Hilbert curve', () => {
  it('visits every cell once, and neighbours one after the other', () => {
    const side = 16;
    const cells = Array.from({ length: side * side }, (_, index) => hilbertCell(index, side));
    expect(new Set(cells.map(({ x, y }) => `${x} ${y}`)).size).toBe(side * side);
    let before = hilbertCell(0, side);
    for (const { x, y } of cells.slice(1)) {
      expect(Math.abs(x - before.x) + Math.abs(y - before.y)).toBe(1);
      before = { x, y };
    }
  });

  it('draws each sixteenth as a square', () => {
    for (let part = 0; part < 16; part += 1) {
      const corner = hilbertCell(part * 256, 64);
      for (let cell = 0; cell < 256; cell += 1) {
        const { x, y } = hilbertCell(part * 256 + cell, 64);
        expect([x >> 4, y >> 4]).toEqual([corner.x >> 4, corner.y >> 4]);
      }
    }
    expect(cellPath(0, 2, 2)).toBe('M0 0h1v1h-1zM0 1h1v1h-1z');
  });
});

describe('prefixes of the map', () => {
  it('have sixteen parts down to 20 bits', () => {
    expect(partsOf('0.0.0.0/0')[12]).toBe('192.0.0.0/4');
    expect(partsOf('192.0.0.0/8')[1]).toBe('192.16.0.0/12');
    expect(partsOf('192.0.0.0/8')).toHaveLength(16);
    expect(partsOf('192.0.0.0/20')).toEqual([]);
  });

  it('know the agents in them, those with most cells first', () => {
    const runs = [
      { first: 250, cells: 10, agent: 0 },
      { first: 300, cells: 1, agent: 1 },
      { first: 310, cells: 4, agent: 0 },
      { first: 400, cells: 9, agent: 2 },
      { first: 512, cells: 9, agent: 3 },
    ];
    expect(agentsAmong(runs, 256, 256)).toEqual([2, 0, 1]);
    expect(agentsAmong(runs, 0, 256)).toEqual([0]);
    expect(agentsAmong(runs, 768, 256)).toEqual([]);
  });

  it('know what is around them', () => {
    expect(pathTo('192.16.0.0/12')).toEqual([
      '0.0.0.0/0',
      '192.0.0.0/4',
      '192.0.0.0/8',
      '192.16.0.0/12',
    ]);
  });
});

describe('classes of round trips', () => {
  it('begin at their bounds', () => {
    expect([0.2, 9.9, 10, 49, 199, 200, 5000].map(heatClass)).toEqual([
      'heat-1',
      'heat-1',
      'heat-2',
      'heat-3',
      'heat-5',
      'heat-6',
      'heat-6',
    ]);
    expect(heatClasses.map(({ text }) => text)).toEqual([
      '< 10 ms',
      '< 25 ms',
      '< 50 ms',
      '< 100 ms',
      '< 200 ms',
      '200 ms and more',
    ]);
  });
});
