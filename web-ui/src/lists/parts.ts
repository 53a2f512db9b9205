/** Lists that the API gives part by part. */
import type { PageQuery } from '../api/calls';
import type { Page } from '../api/model';

/** The first parts of a list as one part. An item that changed its place meanwhile comes once. */
export async function firstParts<Item extends { id: string | number | null }>(
  parts: number,
  limit: number,
  call: (query: PageQuery) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let next_cursor: string | null = null;
  for (let part = 0; part < parts && (part === 0 || next_cursor); part += 1) {
    const found: Page<Item> = await call(next_cursor ? { limit, cursor: next_cursor } : { limit });
    items.push(...found.items);
    next_cursor = found.next_cursor;
  }
  return { items: withoutRepeats(items), next_cursor };
}

/** Each row once. Rows move in a list while its parts are read: the next part may repeat some. */
export function withoutRepeats<Row extends object>(rows: readonly Row[]): Row[] {
  const keyOf = (row: Row): unknown => ('id' in row && row.id !== null ? row.id : row);
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}
