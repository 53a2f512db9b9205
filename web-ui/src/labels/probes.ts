/** Layout of the trail of a search on the explanation page. Pure. */
import { milliseconds } from '../format/number';
import { duration } from '../format/time';

/** Fields of a probe that decide where it is drawn. */
interface DrawnProbe {
  phase: string;
  level: string | null;
  rtt_ms: number | null;
}

/** Consecutive probes of one phase and level. */
interface Stage<P> {
  phase: string;
  level: string | null;
  probes: P[];
}

/** Groups consecutive probes by phase and level. The order is kept, so a phase that returns is a new stage. */
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
 * and extends beyond the threshold, so that its line is never at the edge.
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

/** Position of a value on the axis in per cent, 0 to 100. */
export function position(value: number, end: number): number {
  return Math.min(100, Math.max(0, (100 * value) / end));
}

/** Duration of a search from its opening to its decision: `840 ms`, `3.2 s`, `5 min`. */
export function took(ms: number): string {
  return ms < 60_000 ? milliseconds(ms) : duration(ms);
}
