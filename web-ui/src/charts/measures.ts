/** What the charts of activity show: each measure is computed from the buckets of a time series. */
import type { ActivityBucket } from '../api/model';
import { bytes, count, decimal, milliseconds } from '../format/number';

/** One line of a chart. */
export interface Line {
  name: string;
  /** Which of the part colours. */
  colour: 1 | 2 | 3 | 4 | 5;
  /** The value of a bucket that is so many seconds long; null where nothing is known. */
  of: (bucket: ActivityBucket, seconds: number) => number | null;
  /** Whether a value is the state at the end of its bucket, which says nothing of later ones. */
  isState?: boolean;
}

/** A chart: its title and its lines, which share one scale. */
export interface Measure {
  title: string;
  lines: Line[];
  format: (value: number) => string;
}

const line = (name: string, colour: Line['colour'], of: Line['of']): Line => ({ name, colour, of });
const perSecond = (value: number) => `${decimal(value)}/s`;
const perMinute = (value: number) => `${decimal(value)}/min`;

export const pages: Measure = {
  title: 'Pages a second',
  lines: [line('Pages', 1, (bucket, seconds) => bucket.pages / seconds)],
  format: perSecond,
};

export const errors: Measure = {
  title: 'Errors a minute',
  lines: [line('Errors', 3, (bucket, seconds) => (60 * bucket.errors) / seconds)],
  format: perMinute,
};

export const queue: Measure = {
  title: 'URLs waiting',
  lines: [{ ...line('Waiting', 2, (bucket) => bucket.queued), isState: true }],
  format: count,
};

export const transfer: Measure = {
  title: 'Bytes a second',
  lines: [
    line('Fetched', 1, (bucket, seconds) => bucket.fetched_bytes / seconds),
    line('Shipped', 4, (bucket, seconds) => bucket.shipped_bytes / seconds),
  ],
  format: (value) => `${bytes(value)}/s`,
};

export const roundTrip: Measure = {
  title: 'Round trip to its hosts',
  lines: [line('Mean', 2, (bucket) => bucket.round_trip_ms)],
  format: milliseconds,
};

export const searching: Measure = {
  title: 'Probes and delegation searches',
  lines: [
    line('Probes', 4, (bucket, seconds) => (60 * bucket.probes) / seconds),
    line('Searches', 5, (bucket, seconds) => (60 * bucket.searches) / seconds),
  ],
  format: perMinute,
};

/** How far back the charts look, and in which steps. */
interface TimeSpan {
  name: string;
  step: 'minute' | 'hour' | 'day';
  buckets: number;
}

export const timeSpans: [TimeSpan, ...TimeSpan[]] = [
  { name: '2 hours', step: 'minute', buckets: 120 },
  { name: '1 week', step: 'hour', buckets: 168 },
  { name: '90 days', step: 'day', buckets: 90 },
];
