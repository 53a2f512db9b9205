/** Rows that a person has selected in a list. */
import { SvelteSet } from 'svelte/reactivity';

export class Selection {
  readonly #ids = new SvelteSet<string>();

  /** Number of selected rows. */
  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  toggle(id: string): void {
    if (!this.#ids.delete(id)) this.#ids.add(id);
  }

  /** Selects all of these rows, or none of them if all are selected. */
  toggleAll(ids: readonly string[]): void {
    const all = ids.every((id) => this.#ids.has(id));
    for (const id of ids) {
      if (all) this.#ids.delete(id);
      else this.#ids.add(id);
    }
  }

  clear(): void {
    this.#ids.clear();
  }

  /** Those of these rows that are selected. */
  of<T extends { id: string }>(rows: readonly T[]): T[] {
    return rows.filter((row) => this.#ids.has(row.id));
  }
}
