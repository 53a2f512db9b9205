/** A preview of a change that reassigns nothing, for tests. */
import type { Preview } from '../api/model';

export const emptyPreview: Preview = {
  subnets: 0,
  hosts: 0,
  pages_per_day: 0,
  cost_before_ms: 0,
  cost_after_ms: 0,
  unmeasured: 0,
  lent: 0,
  reassignments: [],
  agents: [],
};
