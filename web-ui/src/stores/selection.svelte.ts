/** Rows that a person has selected in a list, on any of its pages and under any of its filters. */
import { SvelteMap } from 'svelte/reactivity';

export class Selection<Row> {
  readonly #keyOf: (row: Row) => string;
  /** The rows themselves, because a page that is no longer shown is no longer loaded. */
  readonly #rows = new SvelteMap<string, Row>();

  /** `keyOf` tells what a row is about, so that the row stays selected when it is loaded again. */
  constructor(keyOf: (row: Row) => string) {
    this.#keyOf = keyOf;
  }

  /** Number of selected rows. */
  get size(): number {
    return this.#rows.size;
  }

  /** The selected rows, each as it was loaded last. */
  get rows(): Row[] {
    return [...this.#rows.values()];
  }

  has(row: Row): boolean {
    return this.#rows.has(this.#keyOf(row));
  }

  toggle(row: Row): void {
    if (!this.#rows.delete(this.#keyOf(row))) this.#add(row);
  }

  /** Selects all of these rows, or none of them if all are selected. */
  toggleAll(rows: readonly Row[]): void {
    const all = rows.every((row) => this.has(row));
    for (const row of rows) {
      if (all) this.#rows.delete(this.#keyOf(row));
      else this.#add(row);
    }
  }

  /** Replaces selected rows by those of these rows that are about the same. */
  update(rows: readonly Row[]): void {
    for (const row of rows) if (this.has(row)) this.#add(row);
  }

  /** Removes every row from the selection that is not among these. */
  keep(rows: readonly Row[]): void {
    const kept = rows.map((row) => this.#keyOf(row));
    for (const key of [...this.#rows.keys()]) if (!kept.includes(key)) this.#rows.delete(key);
  }

  clear(): void {
    this.#rows.clear();
  }

  #add(row: Row): void {
    this.#rows.set(this.#keyOf(row), row);
  }
}
