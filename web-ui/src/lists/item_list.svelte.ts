/** A short list from the API, and changes to its items. */
import type { Page } from '../api/model';
import { Resource } from '../stores/resource.svelte';
import { Submission } from '../stores/submission.svelte';

export class ItemList<Item> {
  /** The items that are shown. */
  readonly found = new Resource<Page<Item>>();
  /** The last change. */
  readonly submission = new Submission();

  /** Sends a change, and loads the items again. */
  async change(send: () => Promise<void>): Promise<void> {
    await this.submission.send(async () => {
      await send();
      await this.found.refresh();
    });
  }
}
