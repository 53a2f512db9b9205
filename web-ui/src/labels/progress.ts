/** Texts of the progress of the crawl. */
import type { Progress } from '../api/model';
import { count, counted, decimal } from '../format/number';
import { duration } from '../format/time';

/** The headline: when the crawl is expected to end. */
export function endOf(progress: Progress, now: number): string {
  switch (progress.state) {
    case 'shrinking':
      return progress.expected_end
        ? `in ${duration(Date.parse(progress.expected_end) - now)}`
        : 'not known';
    case 'finished':
      return 'nothing waits';
    case 'growing':
      return 'not in sight';
    case 'waiting':
      return 'nothing fetched';
    default:
      return '–';
  }
}

/** What lies behind it. */
export function reasonOf(progress: Progress): string {
  const queued = progress.queued ?? 0;
  const rate = `${decimal(progress.fetches_per_s)} fetches a second`;
  switch (progress.state) {
    case 'finished':
      return `${count(progress.fetched)} fetched`;
    case 'growing':
      return `${counted(queued, 'URL')} wait; as many are found as fetched`;
    case 'waiting':
      return `${counted(queued, 'URL')} wait; none fetched for half an hour`;
    case 'shrinking':
      return `${counted(queued, 'URL')} wait, ${rate}`;
    default:
      return 'no queue was reported in the last half hour';
  }
}
