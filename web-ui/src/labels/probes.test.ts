import { describe, expect, it } from 'vitest';
import { axisEnd, position, stages } from './probes';

const probe = (phase: string, level: string | null, rtt_ms: number | null) => ({
  phase,
  level,
  rtt_ms,
});

describe('stages of a search', () => {
  it('keep the order of asking', () => {
    const found = stages([
      probe('company', null, 80),
      probe('sibling', '10.0.0.0/8', 70),
      probe('sibling', '10.0.0.0/8', 60),
      probe('sibling_child', '10.0.0.0/8', 50),
      probe('sibling', '0.0.0.0/0', 40),
    ]);
    expect(found.map((stage) => [stage.phase, stage.level, stage.probes.length])).toEqual([
      ['company', null, 1],
      ['sibling', '10.0.0.0/8', 2],
      ['sibling_child', '10.0.0.0/8', 1],
      ['sibling', '0.0.0.0/0', 1],
    ]);
  });
});

describe('the time axis', () => {
  it('contains the slowest probe and extends beyond the threshold', () => {
    expect(axisEnd([], 50)).toBe(80);
    expect(axisEnd([probe('sibling', null, 212)], 50)).toBe(300);
    expect(axisEnd([probe('sibling', null, null)], 0)).toBe(1);
  });

  it('never draws outside itself', () => {
    expect(position(50, 100)).toBe(50);
    expect(position(500, 100)).toBe(100);
    expect(position(-1, 100)).toBe(0);
  });
});
