/** Something that is loaded from the API: the value, the wait and the problem, without races. */
import { asProblem, type Problem } from '../api/problem';

/** Loads a value; the signal is raised when the value is no longer wanted. */
export type Loader<T> = (signal: AbortSignal) => Promise<T>;

export class Resource<T> {
  /** The last value that arrived. It stays while the next one is under way. */
  value = $state.raw<T | undefined>(undefined);
  /** Why the last load failed; gone with the next success. */
  problem = $state.raw<Problem | undefined>(undefined);
  /** True while a load is under way that a person waits for. */
  busy = $state(false);

  #current: AbortController | undefined;
  #loader: Loader<T> | undefined;
  /** Whether the answer under way was asked for before something changed. */
  #outdated = false;

  /** Loads anew: only the latest call counts, an earlier answer that comes late is dropped. */
  load(loader: Loader<T>): Promise<void> {
    this.#loader = loader;
    this.busy = true;
    return this.#run(loader);
  }

  /** Loads the same again without showing a wait; after an answer that is under way, which may be older than the reason. */
  async refresh(): Promise<void> {
    if (this.#current) this.#outdated = true;
    else if (this.#loader) await this.#run(this.#loader);
  }

  /** The same again, with a wait shown: for a Try again button. */
  async again(): Promise<void> {
    if (this.#loader) await this.load(this.#loader);
  }

  /** Forgets value and problem and drops what is under way. */
  clear(): void {
    this.stop();
    this.value = undefined;
    this.problem = undefined;
  }

  /** Drops what is under way. */
  stop(): void {
    this.#current?.abort();
    this.#current = undefined;
    this.#outdated = false;
    this.busy = false;
  }

  async #run(loader: Loader<T>): Promise<void> {
    this.#current?.abort();
    const control = new AbortController();
    this.#current = control;
    this.#outdated = false;
    try {
      const value = await loader(control.signal);
      if (this.#current === control) this.#settle(value, undefined);
    } catch (thrown) {
      if (this.#current === control) this.#settle(this.value, asProblem(thrown));
    }
    if (this.#outdated && !this.#current) await this.#run(loader);
  }

  #settle(value: T | undefined, problem: Problem | undefined): void {
    this.value = value;
    this.problem = problem;
    this.busy = false;
    this.#current = undefined;
  }
}
