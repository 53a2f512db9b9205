/** A short list from the API, and changes to its items. */
import type { Page } from '../api/model';
import { Resource } from '../stores/resource.svelte';
import { Submission } from '../stores/submission.svelte';

export class ItemList<Item> {
  /** The items that are shown. */
  readonly found = new Resource<Page<Item>>();
  /** The last change. */
  readonly submission = new Submission();

  /** Sends a change, and loads the items again. A refusal may mean that they are outdated. */
  async change(send: () => Promise<void>): Promise<void> {
    await this.submission.send(async () => {
      try {
        await send();
      } finally {
        await this.found.refresh();
      }
    });
  }
}
