/** The coordinator's events: one connection for the whole page, shared by everything that shows live numbers. */
import * as api from '../api/calls';
import type { Overview } from '../api/model';
import { asProblem, type Problem } from '../api/problem';
import { Rate } from './rate';

/** The part of EventSource that is used here; tests give their own. */
export interface Source {
  readyState: number;
  onopen: ((event: Event) => void) | null;
  onerror: ((event: Event) => void) | null;
  addEventListener(name: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

/** Lists that tell when they have changed. */
type Changing = 'agents' | 'delegations';
type Timer = ReturnType<typeof setTimeout>;

const closed = 2; // EventSource.CLOSED: the browser will not try again by itself
const retryAfter = 5000;
/** Lists load again at most this often, however much happens. */
const settle = 1500;

export class Live {
  /** The numbers of the overview, as of the last event. */
  overview = $state.raw<Overview | undefined>(undefined);
  /** Why there are no numbers, when they could not be had. */
  problem = $state.raw<Problem | undefined>(undefined);
  /** Whether events are arriving. */
  connected = $state(false);
  /** How fast pages come in, over the last minute. */
  readonly pages = new Rate(60_000);
  /** Grows when the agents changed. */
  agents = $state(0);
  /** Grows when the delegations changed. */
  delegations = $state(0);

  readonly #open: () => Source;
  #source: Source | undefined;
  #retry: Timer | undefined;
  #pending: Record<Changing, Timer | undefined> = { agents: undefined, delegations: undefined };

  constructor(open: () => Source = () => new EventSource('/api/v1/events')) {
    this.#open = open;
  }

  /** Connects; a second call replaces the connection. Returns how to stop. */
  start(): () => void {
    this.stop();
    this.#connect();
    return () => this.stop();
  }

  /** Disconnects. The last numbers stay. */
  stop(): void {
    this.#source?.close();
    this.#source = undefined;
    this.connected = false;
    clearTimeout(this.#retry);
    clearTimeout(this.#pending.agents);
    clearTimeout(this.#pending.delegations);
    this.#pending = { agents: undefined, delegations: undefined };
  }

  #connect(): void {
    const source = this.#open();
    this.#source = source;
    source.onopen = () => this.#opened();
    source.onerror = () => this.#lost(source);
    source.addEventListener('overview', (event) => this.#show(JSON.parse(event.data) as Overview));
    source.addEventListener('agents', () => this.#changed('agents'));
    source.addEventListener('delegations', () => this.#changed('delegations'));
  }

  /** What changed before it was open, nobody told: pages loaded by then may be older. */
  #opened(): void {
    this.connected = true;
    this.#changed('agents');
    this.#changed('delegations');
  }

  /** Asks the ordinary way why no events come. An expired session comes to light here. */
  async #ask(): Promise<void> {
    try {
      this.#show(await api.overview());
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
  }

  #show(overview: Overview): void {
    this.overview = overview;
    this.problem = undefined;
    this.pages.mark(Date.now(), overview.pages.integrated);
  }

  #changed(what: Changing): void {
    this.#pending[what] ??= setTimeout(() => {
      this.#pending[what] = undefined;
      this[what] += 1;
    }, settle);
  }

  /** The browser reconnects by itself unless the answer was a refusal; then we see whether the session is the reason. */
  #lost(source: Source): void {
    this.connected = false;
    if (source.readyState !== closed || this.#source !== source) return;
    this.#source = undefined;
    void this.#ask();
    this.#retry = setTimeout(() => this.#connect(), retryAfter);
  }
}

export const live = new Live();
