/** Growth of a counter within a time window. Pure: the time is an argument. */

interface Mark {
  at: number;
  total: number;
}

/** Recent values of a counter. Times are in milliseconds. */
export class Rate {
  readonly #window: number;
  readonly #marks: Mark[] = [];

  constructor(window: number) {
    this.#window = window;
  }

  /** Records a value. Times never decrease; a value that decreases starts a new series. */
  mark(at: number, total: number): void {
    const last = this.#marks.at(-1);
    if (last && total < last.total) this.#marks.length = 0;
    this.#marks.push({ at, total });
    this.#forget(at);
  }

  /** Forgets all values: what came since the last one is not of this window. */
  clear(): void {
    this.#marks.length = 0;
  }

  /** Growth within the window before `now`; unknown while less than a tenth of the window has been seen. */
  grown(now: number): number | undefined {
    this.#forget(now);
    const [first] = this.#marks;
    const last = this.#marks.at(-1);
    if (!first || !last || now - first.at < this.#window / 10) return undefined;
    return last.total - first.total;
  }

  /** Drops values older than the window, except the newest of them, which is its starting value. */
  #forget(now: number): void {
    while (this.#marks[1] && now - this.#marks[1].at >= this.#window) this.#marks.shift();
  }
}
