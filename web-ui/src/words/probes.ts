/** The probe trail of a search, made ready for the why page. Pure. */
import { milliseconds } from '../format/number';
import { duration } from '../format/time';

/** What of a probe decides where it is drawn. */
export interface DrawnProbe {
  phase: string;
  level: string | null;
  rtt_ms: number | null;
}

/** Probes of one stage of the search, in the order in which they were asked. */
export interface Stage<P> {
  phase: string;
  level: string | null;
  probes: P[];
}

/** Runs of probes that share phase and level. The order of asking is kept: a stage that comes back is a new one. */
export function stages<P extends DrawnProbe>(probes: P[]): Stage<P>[] {
  const found: Stage<P>[] = [];
  for (const probe of probes) {
    const last = found.at(-1);
    if (last && last.phase === probe.phase && last.level === probe.level) last.probes.push(probe);
    else found.push({ phase: probe.phase, level: probe.level, probes: [probe] });
  }
  return found;
}

/**
 * The right end of the time axis in milliseconds: a round number that holds the slowest probe,
 * with room beyond the threshold so that its line is never at the edge.
 */
export function axisEnd(probes: DrawnProbe[], threshold: number): number {
  const slowest = Math.max(0, ...probes.map((probe) => probe.rtt_ms ?? 0));
  return roundUp(Math.max(slowest, threshold * 1.5, 1));
}

function roundUp(value: number): number {
  const size = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * size >= value) ?? 10;
  return step * size;
}

/** A value's place on the axis in per cent, 0 to 100. */
export function place(value: number, end: number): number {
  return Math.min(100, Math.max(0, (100 * value) / end));
}

/** How long a search took, from its opening to its decision: `840 ms`, `3.2 s`, `5 min`. */
export function took(opened: string, decided: string): string {
  const ms = Math.max(0, Date.parse(decided) - Date.parse(opened));
  return ms < 60_000 ? milliseconds(ms) : duration(ms);
}
