const linesOf = (text: string) => text.split(/\r?\n/).map((line) => line.trim());

/** The URLs in a pasted text: one to a line, blank lines and # comments left out, each once. */
export function urlsIn(text: string): string[] {
  return [...new Set(linesOf(text).filter((line) => line !== '' && !line.startsWith('#')))];
}

/** The lines that stay after `sent` was sent: those that were typed meanwhile, or were rejected. */
export function linesLeft(text: string, sent: string, rejected: string[]): string {
  const gone = new Set(linesOf(sent));
  for (const url of rejected) gone.delete(url);
  return linesOf(text)
    .filter((line) => !gone.has(line))
    .join('\n');
}
