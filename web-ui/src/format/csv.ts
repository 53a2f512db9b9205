/** Tables as CSV (RFC 4180). Pure. */

/** A row with nested objects as one level of columns: `agent.name`. */
function flat(value: object, prefix = ''): [string, unknown][] {
  return Object.entries(value).flatMap(([key, inner]) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? flat(inner as object, `${prefix}${key}.`)
      : [[`${prefix}${key}`, inner] as [string, unknown]],
  );
}

/**
 * The text of a cell. Names come from strangers: what a spreadsheet would take for a formula gets
 * an apostrophe before it.
 */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  const text = /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV, with the names of all their fields as the first line. */
export function csv(rows: readonly object[]): string {
  const flattened = rows.map((row) => new Map(flat(row)));
  const columns = [...new Set(flattened.flatMap((row) => [...row.keys()]))];
  const line = (cells: string[]) => `${cells.join(',')}\r\n`;
  const body = flattened.map((row) => line(columns.map((column) => cell(row.get(column)))));
  return line(columns.map(cell)) + body.join('');
}
