/** Lists that the API gives part by part. */
import type { PageQuery } from '../api/calls';
import type { Page } from '../api/model';

/** The first parts of a list as one part. An item that changed its place meanwhile comes once. */
export async function firstParts<Item extends { id: string | null }>(
  parts: number,
  limit: number,
  call: (query: PageQuery) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  const seen = new Set<string>();
  let next_cursor: string | null = null;
  for (let part = 0; part < parts && (part === 0 || next_cursor); part += 1) {
    const found: Page<Item> = await call(next_cursor ? { limit, cursor: next_cursor } : { limit });
    for (const item of found.items) {
      if (item.id !== null && seen.has(item.id)) continue;
      if (item.id !== null) seen.add(item.id);
      items.push(item);
    }
    next_cursor = found.next_cursor;
  }
  return { items, next_cursor };
}
