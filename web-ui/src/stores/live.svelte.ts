/** The coordinator's event stream: one connection that all parts of the page share. */
import { untrack } from 'svelte';
import { inBackground } from '../api/background';
import * as api from '../api/calls';
import type { Overview } from '../api/model';
import { asProblem, type Problem } from '../api/problem';
import { Rate } from './rate';

/** The part of EventSource that is used here; tests replace it. */
export interface Source {
  readyState: number;
  onopen: ((event: Event) => void) | null;
  onerror: ((event: Event) => void) | null;
  addEventListener(name: string, listener: (event: MessageEvent<string>) => void): void;
  close(): void;
}

/** Lists whose changes the stream announces. */
type Topic = 'agents' | 'delegations';
type Timer = ReturnType<typeof setTimeout>;

const closed = 2; // EventSource.CLOSED: the browser does not reconnect by itself
const retryAfter = 5000;
/** Least time between two loads of a list, in milliseconds. */
const reloadInterval = 1500;

export class Live {
  /** The numbers of the overview, as of the last event. */
  overview = $state.raw<Overview | undefined>(undefined);
  /** Why the overview could not be loaded; undefined after a success. */
  problem = $state.raw<Problem | undefined>(undefined);
  /** Whether events are arriving. */
  connected = $state(false);
  /** Since when they should arrive and do not, in milliseconds; undefined while they need not. */
  waitingSince = $state<number>();
  /** Growth of the number of pages over the last minute. */
  readonly pages = new Rate(60_000);
  /** Counts changes of the agents. */
  agents = $state(0);
  /** Counts changes of the delegations. */
  delegations = $state(0);

  readonly #open: () => Source;
  #source: Source | undefined;
  #retry: Timer | undefined;
  #pending: Record<Topic, Timer | undefined> = { agents: undefined, delegations: undefined };

  constructor(open: () => Source = () => new EventSource('/api/v1/events')) {
    this.#open = open;
  }

  /** Connects while the page is shown; a second call replaces the connection. Returns a function that disconnects. */
  start(): () => void {
    this.stop();
    document.addEventListener('visibilitychange', this.#follow);
    this.#follow();
    return () => this.stop();
  }

  /** Disconnects. The last numbers stay. */
  stop(): void {
    document.removeEventListener('visibilitychange', this.#follow);
    this.#disconnect();
  }

  /**
   * A hidden page has no connection: browsers open at most six to one host over HTTP/1.1, for all
   * tabs together.
   */
  readonly #follow = (): void => {
    this.#disconnect();
    if (!document.hidden) this.#connect();
  };

  #disconnect(): void {
    this.#source?.close();
    this.#source = undefined;
    this.connected = false;
    this.waitingSince = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#pending.agents);
    clearTimeout(this.#pending.delegations);
    this.#pending = { agents: undefined, delegations: undefined };
  }

  #connect(): void {
    const source = this.#open();
    this.#source = source;
    this.#wait();
    source.onopen = () => this.#opened();
    source.onerror = () => this.#lost(source);
    source.addEventListener('overview', (event) => this.#show(JSON.parse(event.data) as Overview));
    source.addEventListener('agents', () => this.#changed('agents'));
    source.addEventListener('delegations', () => this.#changed('delegations'));
  }

  /** Changes before the connection opened were not announced, so all lists load again. */
  #opened(): void {
    this.connected = true;
    this.waitingSince = undefined;
    // The pages of a pause are none of the last minute.
    this.pages.clear();
    this.#changed('agents');
    this.#changed('delegations');
  }

  /** Untracked: an effect that starts the connection must not run again when it is lost. */
  #wait(): void {
    this.waitingSince = untrack(() => this.waitingSince) ?? Date.now();
  }

  /** Reads the overview without the stream, which reveals an expired session. */
  async #fetchOverview(): Promise<void> {
    try {
      this.#show(await api.overview(inBackground(new AbortController().signal)));
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
  }

  #show(overview: Overview): void {
    this.overview = overview;
    this.problem = undefined;
    this.pages.mark(Date.now(), overview.pages.ingested);
  }

  #changed(what: Topic): void {
    this.#pending[what] ??= setTimeout(() => {
      this.#pending[what] = undefined;
      this[what] += 1;
    }, reloadInterval);
  }

  /** The browser reconnects by itself unless the request was refused; then the session may be the cause. */
  #lost(source: Source): void {
    this.connected = false;
    this.#wait();
    if (source.readyState !== closed || this.#source !== source) return;
    this.#source = undefined;
    void this.#fetchOverview();
    this.#retry = setTimeout(() => this.#connect(), retryAfter);
  }
}

export const live = new Live();
