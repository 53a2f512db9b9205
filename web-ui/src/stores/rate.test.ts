import { describe, expect, it } from 'vitest';
import { Rate } from './rate';

describe('a rate', () => {
  it('is unknown at first', () => {
    const rate = new Rate(60_000);
    expect(rate.grown(0)).toBeUndefined();
    rate.mark(0, 100);
    expect(rate.grown(1000)).toBeUndefined();
  });

  it('counts what came within the window and falls to nothing when nothing comes', () => {
    const rate = new Rate(60_000);
    rate.mark(0, 100);
    rate.mark(30_000, 150);
    expect(rate.grown(30_000)).toBe(50);
    rate.mark(80_000, 160);
    expect(rate.grown(80_000)).toBe(60);
    expect(rate.grown(95_000)).toBe(10);
    expect(rate.grown(200_000)).toBe(0);
  });

  it('is unknown after a pause', () => {
    const rate = new Rate(60_000);
    rate.mark(0, 100);
    rate.clear();
    rate.mark(3_600_000, 9000);
    rate.mark(3_610_000, 9010);
    expect(rate.grown(3_610_000)).toBe(10);
  });

  it('starts again when the counter does', () => {
    const rate = new Rate(60_000);
    rate.mark(0, 1000);
    rate.mark(10_000, 3);
    rate.mark(20_000, 5);
    expect(rate.grown(20_000)).toBe(2);
  });
});
