/** Prefixes of the IPv4 map. Pure. */
import type { CellRunOnMap } from '../api/model';

/** A prefix is as long as a number of these bits; a step of the zoom shows a sixteenth. */
const zoomBits = 4;
/** The longest prefix that is shown. */
export const longest = 20;
export const everything = '0.0.0.0/0';

/** The sixteen parts of a prefix in the order of their addresses; none where it cannot be enlarged. */
export function partsOf(prefix: string): string[] {
  const [address = '0.0.0.0', bits = '0'] = prefix.split('/');
  const length = Number(bits) + zoomBits;
  if (length > longest) return [];
  return Array.from({ length: 16 }, (_, part) =>
    written(numberOf(address) + part * 2 ** (32 - length), length),
  );
}

/** The prefixes around a prefix, the largest first, with itself. */
export function pathTo(prefix: string): string[] {
  const [address = '0.0.0.0', bits = '0'] = prefix.split('/');
  const path = [];
  for (let length = 0; length <= Number(bits); length += zoomBits) {
    const size = 2 ** (32 - length);
    path.push(written(Math.floor(numberOf(address) / size) * size, length));
  }
  return path;
}

/** Numbers of the agents with cells among `cells` from `first` on, those with most cells first. */
export function agentsAmong(runs: readonly CellRunOnMap[], first: number, cells: number): number[] {
  const held = new Map<number, number>();
  for (const run of runs) {
    const end = Math.min(run.first + run.cells, first + cells);
    const shared = end - Math.max(run.first, first);
    if (shared > 0) held.set(run.agent, (held.get(run.agent) ?? 0) + shared);
  }
  return [...held].sort(([, a], [, b]) => b - a).map(([agent]) => agent);
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function written(number: number, length: number): string {
  const parts = [2 ** 24, 2 ** 16, 2 ** 8, 1].map((unit) => Math.floor(number / unit) % 256);
  return `${parts.join('.')}/${length}`;
}
