/** The session: the signed-in person, sign-in, sign-out and expiry. */
import * as api from '../api/calls';
import type { Account, UserSession } from '../api/model';
import { asProblem } from '../api/problem';
import { keep, kept, local } from '../stores/kept';

/** Set at sign-in, so that the search page asks for a session only where there was one. Grants nothing by itself. */
const hint = 'nearcrawl.signed-in';

class Session {
  /** The signed-in person; `null` when nobody is signed in, `undefined` until that is known. */
  user = $state<UserSession | null | undefined>(undefined);
  /** True from the moment when the coordinator rejects the session until the next sign-in. */
  expired = $state(false);
  /** Counts sign-ins. Pages load their data again when it changes. */
  epoch = $state(0);

  /** Whether the signed-in person may change anything but the own password and tokens. */
  get mayChange(): boolean {
    return this.user?.role === 'admin';
  }

  /** Whether an account is that of the signed-in person. */
  isOwn({ name }: Pick<Account, 'name'>): boolean {
    return this.user?.name === name;
  }

  /** Reads the session from the coordinator. `quietly` does so only after an earlier sign-in. */
  async recall(quietly = false): Promise<void> {
    if (quietly && kept(local, hint) === null) {
      this.user = null;
      return;
    }
    try {
      this.#enter(await api.currentSession());
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.status !== 401) throw problem;
      this.#leave();
    }
  }

  /** Signs in. A wrong password is thrown as the coordinator's problem. */
  async signIn(name: string, password: string): Promise<void> {
    this.#enter(await api.signIn(name, password));
    this.expired = false;
    this.epoch += 1;
  }

  /** Signs out. An expired session counts as signed out. */
  async signOut(): Promise<void> {
    try {
      await api.signOut();
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.status !== 401) throw problem;
    }
    this.#leave();
  }

  /** Marks the session as expired. The page keeps everything that was typed into it. */
  end(): void {
    if (this.user) this.expired = true;
  }

  /** Leaves an expired session instead of signing in again. */
  abandon(): void {
    this.#leave();
  }

  #enter(user: UserSession): void {
    this.user = user;
    keep(local, hint, '1');
  }

  #leave(): void {
    this.user = null;
    this.expired = false;
    keep(local, hint, null);
  }
}

export const session = new Session();
api.whenSessionEnds(() => session.end());
