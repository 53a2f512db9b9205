/** A value loaded from the API, with its progress and its problem, free of races. */
import { inBackground } from '../api/background';
import { asProblem, type Problem } from '../api/problem';

/** Loads the answer to one question; the signal aborts when it is no longer needed. */
export type Loader<T> = (signal: AbortSignal) => Promise<T>;

export class Resource<T> {
  /** The last value that arrived. It stays while the next one loads. */
  value = $state.raw<T | undefined>(undefined);
  /** Why the last load failed; undefined after a success. */
  problem = $state.raw<Problem | undefined>(undefined);
  /** True during a load that shows its progress. */
  busy = $state(false);

  #current: AbortController | undefined;
  #loader: Loader<T> | undefined;
  /** The loader that the value is from. */
  #answered: Loader<T> | undefined;
  /** True when the response in flight was requested before a change. */
  #outdated = false;

  /** Loads a value. Only the latest call counts; late responses of earlier calls are dropped. */
  load(loader: Loader<T>): Promise<void> {
    this.#loader = loader;
    this.busy = true;
    return this.#run(loader);
  }

  /**
   * Loads the same value again without showing progress, after a response in flight, which may be older than the change.
   * The request does not count as use of the session.
   */
  async refresh(): Promise<void> {
    if (this.#current) this.#outdated = true;
    else if (this.#loader) await this.#run(this.#loader, true);
  }

  /** Loads the same value again and shows progress, for a Try again button. */
  async again(): Promise<void> {
    if (this.#loader) await this.load(this.#loader);
  }

  /** Clears value and problem, aborts the load, and leaves nothing that could be loaded again. */
  clear(): void {
    this.stop();
    this.#loader = undefined;
    this.value = undefined;
    this.problem = undefined;
  }

  /** Clears a value that answers an earlier question: the present one has no answer yet. */
  clearEarlier(): void {
    if (this.#answered !== this.#loader) this.value = undefined;
  }

  /** Aborts the load. */
  stop(): void {
    this.#current?.abort();
    this.#current = undefined;
    this.#outdated = false;
    this.busy = false;
  }

  async #run(loader: Loader<T>, background = false): Promise<void> {
    this.#current?.abort();
    const control = new AbortController();
    this.#current = control;
    if (background) inBackground(control.signal);
    this.#outdated = false;
    try {
      const value = await loader(control.signal);
      if (this.#current === control) {
        this.#answered = loader;
        this.#settle(value, undefined);
      }
    } catch (thrown) {
      if (this.#current === control) {
        this.clearEarlier();
        this.#settle(this.value, asProblem(thrown));
      }
    }
    if (this.#outdated && !this.#current) await this.#run(loader, true);
  }

  #settle(value: T | undefined, problem: Problem | undefined): void {
    this.value = value;
    this.problem = problem;
    this.busy = false;
    this.#current = undefined;
  }
}
