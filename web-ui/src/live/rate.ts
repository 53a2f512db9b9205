/** How fast does a growing number grow? Pure: the time is an argument. */

interface Mark {
  at: number;
  total: number;
}

/** Remembers what a counter showed over the last while. Times in milliseconds. */
export class Rate {
  readonly #window: number;
  readonly #marks: Mark[] = [];

  constructor(window: number) {
    this.#window = window;
  }

  /** The counter showed `total` at this time. Times never go back; a counter that falls begins anew. */
  mark(at: number, total: number): void {
    const last = this.#marks.at(-1);
    if (last && total < last.total) this.#marks.length = 0;
    this.#marks.push({ at, total });
    this.#forget(at);
  }

  /** Growth within the window before `now`; unknown while less than a tenth of the window has been seen. */
  grown(now: number): number | undefined {
    this.#forget(now);
    const [first] = this.#marks;
    const last = this.#marks.at(-1);
    if (!first || !last || now - first.at < this.#window / 10) return undefined;
    return last.total - first.total;
  }

  /** Drops what is older than the window, but for the one mark that says how it began. */
  #forget(now: number): void {
    while (this.#marks[1] && now - this.#marks[1].at >= this.#window) this.#marks.shift();
  }
}
