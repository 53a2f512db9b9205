/** A change that is sent to the API: whether it is on its way, and why the last one failed. */
import { asProblem, type Problem } from '../api/problem';

export class Submission {
  /** True until the response to the change has arrived. */
  busy = $state(false);
  /** Why the last change failed; undefined after a success. */
  problem = $state.raw<Problem>();

  /** Sends a change. A failure is kept as the problem. */
  async send(change: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.problem = undefined;
    try {
      await change();
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
    this.busy = false;
  }
}
