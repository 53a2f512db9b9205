/** The URLs in a pasted text: one to a line, blank lines and # comments left out, each once. */
export function urlsIn(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== '' && !line.startsWith('#')))];
}
