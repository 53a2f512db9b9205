/** Who is signed in, and what to do when they no longer are. */
import * as api from '../api/calls';
import type { SessionAnswer } from '../api/model';
import { asProblem } from '../api/problem';

/** Set at sign-in, so that visitors of the search page are not asked who they are. It opens nothing by itself. */
const hint = 'nearcrawl.signed-in';

class Session {
  /** Who is signed in; `null` is nobody, `undefined` is not known yet. */
  who = $state<SessionAnswer | null | undefined>(undefined);
  /** True from the moment when the coordinator stopped accepting the session until somebody signs in again. */
  expired = $state(false);
  /** Grows with every sign-in. What was loaded in an older session loads again. */
  epoch = $state(0);

  /** Asks the coordinator. `quietly` asks only where somebody has signed in before. */
  async recall(quietly = false): Promise<void> {
    if (quietly && localStorage.getItem(hint) === null) {
      this.who = null;
      return;
    }
    try {
      this.#enter(await api.whoAmI());
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

  /** Signs out. A session that is already gone counts as signed out. */
  async signOut(): Promise<void> {
    try {
      await api.signOut();
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.status !== 401) throw problem;
    }
    this.#leave();
  }

  /** The coordinator refused the session. The page stays as it is, with everything typed into it. */
  end(): void {
    if (this.who) this.expired = true;
  }

  /** Gives up an expired session instead of signing in again. */
  abandon(): void {
    this.#leave();
  }

  #enter(who: SessionAnswer): void {
    this.who = who;
    localStorage.setItem(hint, '1');
  }

  #leave(): void {
    this.who = null;
    this.expired = false;
    localStorage.removeItem(hint);
  }
}

export const session = new Session();
api.whenSessionEnds(() => session.end());
