/** Points of a chart, and the sentence that says the same in words. Pure. */
import type { ActivityBucket, Series } from '../api/model';
import { exact } from '../format/time';
import type { Line, Measure } from './measures';

/** The values of one line, one for each bucket. */
export function valuesOf(series: Series, line: Line): (number | null)[] {
  return finished(series).map((bucket) => line.of(bucket, series.step_s));
}

/** Begins of the buckets, in seconds since 1970, as the charts take them. */
export function timesOf(series: Series): number[] {
  return finished(series).map((bucket) => Date.parse(bucket.start) / 1000);
}

/** The buckets without the last one, which is not over: its rates would be too low. A series of one bucket keeps it. */
export function finished(series: Series): ActivityBucket[] {
  return series.buckets.length > 1 ? series.buckets.slice(0, -1) : series.buckets;
}

/** The least number of buckets across a chart. */
const least = 10;

/** Begin and end of the axis of times: with few buckets there is room before the first one, so that the axis does not
 * show seconds or days. */
export function axisRange(first: number, last: number, seconds: number): [number, number] {
  return [Math.min(first, last - least * seconds), last];
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const distances = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 30].map((count) => count * day),
];

/** Distances of two labels on the axis of times, in seconds. None is below a bucket: the labels would repeat. */
export function labelDistances(seconds: number): number[] {
  return distances.filter((distance) => distance >= seconds);
}

/** A time on the axis, in UTC: the minute of a day, or the day. */
export function stamp(seconds: number, step: Series['step']): string {
  const iso = new Date(seconds * 1000).toISOString();
  const isDay = step === 'day' || (step === 'hour' && iso.slice(11, 16) === '00:00');
  return isDay ? iso.slice(5, 10) : iso.slice(11, 16);
}

/** The value that counts as the present one; undefined where none is known. */
export function present(series: Series, line: Line): number | undefined {
  const values = valuesOf(series, line);
  return (line.isState ? values.at(-1) : values.findLast((value) => value !== null)) ?? undefined;
}

/** Indices of values without a neighbour, which no line reaches. */
export function lonePoints(values: (number | null)[]): number[] {
  const isKnown = (index: number) => values[index] != null;
  return [...values.keys()].filter(
    (index) => isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1),
  );
}

/** What a chart shows, as a sentence for each line. */
export function inWords(series: Series, measure: Measure): string {
  const sentences = measure.lines.map((line) => {
    const values = valuesOf(series, line);
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${line.name}: nothing known.`;
    const last = present(series, line);
    const said = last === undefined ? 'not known' : measure.format(last);
    const highest = Math.max(...known);
    const at = finished(series)[values.indexOf(highest)]?.start ?? '';
    return `${line.name}: last ${said}, highest ${measure.format(highest)} at ${exact(at)}.`;
  });
  return `${measure.title}. ${sentences.join(' ')}`;
}
