/** A short list from the API, and changes to its items. */
import type { Page } from '../api/model';
import { Resource } from '../stores/resource.svelte';

export class ItemList<Item> {
  /** The items that are shown. */
  readonly found = new Resource<Page<Item>>();

  /** Loads the items again after a change that a dialog sends. A refusal may mean that they are outdated. */
  async refreshAfter(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } finally {
      // While the connection is lost the list waits for it, which a dialog must not.
      void this.found.refresh();
    }
  }
}
