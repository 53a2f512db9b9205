/** Values of charts for tests. */
import type { ActivityBucket } from '../api/model';

/** A bucket in which nothing happened but what is given. */
export const bucketOf = (start: string, news: Partial<ActivityBucket> = {}): ActivityBucket => ({
  start,
  pages: 0,
  fetches: 0,
  errors: 0,
  fetched_bytes: 0,
  shipped_bytes: 0,
  probes: 0,
  searches: 0,
  queued: null,
  round_trip_ms: null,
  ...news,
});
