/** A change that is previewed by a dry run and then made, from a form that stays editable meanwhile. */
import type { Preview } from '../api/model';
import type { Problem } from '../api/problem';
import { Resource } from '../stores/resource.svelte';
import { Submission } from '../stores/submission.svelte';

export class PreviewedChange {
  readonly #dryRun = new Resource<Preview>();
  readonly #change = new Submission();

  /** Consequence of what the form says now; undefined until it has been asked for. */
  get preview(): Preview | undefined {
    return this.#dryRun.value;
  }

  /** True until the dry run or the change has been answered. */
  get busy(): boolean {
    return this.#dryRun.busy || this.#change.busy;
  }

  /** True until the change has been answered. */
  get applying(): boolean {
    return this.#change.busy;
  }

  /** Why the dry run or the change failed. */
  get problem(): Problem | undefined {
    return this.#change.problem ?? this.#dryRun.problem;
  }

  /** Forgets the preview of what the form said before, also one that is still on its way. */
  edited(): void {
    this.#dryRun.clear();
  }

  /** Asks for the preview of what the form says now. */
  show(dryRun: () => Promise<Preview>): Promise<void> {
    this.#dryRun.clear();
    this.#change.problem = undefined;
    return this.#dryRun.load(dryRun);
  }

  /** Makes the change that was previewed. */
  apply(change: () => Promise<void>): Promise<void> {
    return this.#change.send(change);
  }
}
