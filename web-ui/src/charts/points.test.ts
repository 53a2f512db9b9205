import { describe, expect, it } from 'vitest';
import type { ActivityBucket, Series } from '../api/model';
import { bucketOf } from './fake';
import { errors, pages, queue, roundTrip, type Measure } from './measures';
import {
  axisRange,
  inWords,
  labelDistances,
  lonePoints,
  present,
  stamp,
  timesOf,
  valuesOf,
} from './points';

const bucket = (minute: number, news: Partial<ActivityBucket>) =>
  bucketOf(new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString(), news);

const series: Series = {
  step: 'minute',
  step_s: 60,
  buckets: [
    bucket(0, { pages: 120, errors: 6, queued: 40 }),
    bucket(1, { pages: 30 }),
    bucket(2, { pages: 1 }),
  ],
};

it('finds the values that no line reaches', () => {
  expect(lonePoints([null, 2, null, 3, 4, null, 5])).toEqual([1, 6]);
  expect(lonePoints([7])).toEqual([0]);
  expect(lonePoints([1, 2])).toEqual([]);
});

const values = (measure: Measure) => measure.lines.map((line) => valuesOf(series, line));

describe('points of a chart', () => {
  it('are rates of the buckets that are over', () => {
    expect(values(pages)).toEqual([[2, 0.5]]);
    expect(values(errors)).toEqual([[6, 0]]);
    expect(timesOf(series)).toEqual([1767268800, 1767268860]);
  });

  it('leave unknown values open', () => {
    expect(values(queue)).toEqual([[40, null]]);
  });

  it('show an old state as unknown, and an old measurement as the last one', () => {
    const of = (measure: Measure, news: Partial<ActivityBucket>[]) => {
      const buckets = [...news, {}].map((each, minute) => bucket(minute, each));
      return measure.lines.map((line) => present({ ...series, buckets }, line));
    };
    expect(of(queue, [{ queued: 40 }, {}])).toEqual([undefined]);
    expect(of(queue, [{}, { queued: 40 }])).toEqual([40]);
    expect(of(roundTrip, [{ round_trip_ms: 7 }, {}])).toEqual([7]);
    expect(of(roundTrip, [])).toEqual([undefined]);
  });

  it('have the minute or the day on the axis', () => {
    const midnight = Date.UTC(2026, 0, 31) / 1000;
    expect(stamp(midnight, 'minute')).toBe('00:00');
    expect(stamp(midnight, 'hour')).toBe('01-31');
    expect(stamp(midnight + 7200, 'hour')).toBe('02:00');
    expect(stamp(midnight, 'day')).toBe('01-31');
  });

  it('leave room on the axis where they are few', () => {
    const noon = Date.UTC(2026, 0, 31, 12) / 1000;
    expect(axisRange(noon, noon, 60)).toEqual([noon - 600, noon]);
    expect(axisRange(noon - 7140, noon, 60)).toEqual([noon - 7140, noon]);
  });

  it('have labels at least a bucket apart', () => {
    expect(labelDistances(60)[0]).toBe(60);
    expect(labelDistances(3600)[0]).toBe(3600);
    expect(labelDistances(86_400)[0]).toBe(86_400);
  });

  it('are told in words', () => {
    expect(inWords(series, pages)).toBe(
      'Pages a second. Pages: last 0.5/s, highest 2/s at 2026-01-01 12:00:00 UTC.',
    );
    expect(inWords(series, queue)).toBe(
      'URLs waiting. Waiting: last not known, highest 40 at 2026-01-01 12:00:00 UTC.',
    );
    expect(inWords({ ...series, buckets: [] }, queue)).toBe(
      'URLs waiting. Waiting: nothing known.',
    );
  });
});
