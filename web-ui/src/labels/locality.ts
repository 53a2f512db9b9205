/** Texts of what locality saves. */
import type { Locality } from '../api/model';
import { counted, decimal } from '../format/number';
import { duration } from '../format/time';

/** The headline, and what lies behind it or why there is none. */
export function savedBy(locality: Locality): { value: string; note: string } {
  const { spent_s, random_s, fetches, agents_without_place: without } = locality;
  if (spent_s !== null && random_s !== null && spent_s > 0) {
    return {
      value: comparison(spent_s, random_s),
      note:
        `${waiting(spent_s)} of round trips for ${counted(fetches, 'fetch', 'fetches')} in 30 days; ` +
        `about ${waiting(random_s)} from random agents`,
    };
  }
  if (fetches > 0) return { value: '–', note: 'takes two agents with a known place' };
  if (without > 0) {
    return { value: '–', note: `${counted(without, 'agent has', 'agents have')} no known place` };
  }
  return { value: '–', note: 'nothing fetched yet' };
}

/** How many times less or more than random agents. */
function comparison(spent: number, random: number): string {
  const times = Math.round((10 * Math.max(spent, random)) / Math.min(spent, random)) / 10;
  if (times === 1) return 'no difference';
  if (!Number.isFinite(times)) return 'more';
  return `${decimal(times)}× ${spent < random ? 'less' : 'more'}`;
}

/** Times below a minute in seconds with a digit, others in their largest units. */
function waiting(seconds: number): string {
  return seconds < 60 ? `${decimal(Math.round(10 * seconds) / 10)} s` : duration(seconds * 1000);
}
