/** Text of the hours in which an agent may work. */

/** `Mon–Fri 22:00–06:00, Sat–Sun all day (Europe/Nicosia)`; without spans it works at all hours. */
export function hoursOf(spans: string[], zone: string): string {
  if (spans.length === 0) return 'at all hours';
  return `${spansText(spans)} (${zone})`;
}

/** `Mon–Fri 22:00–06:00, Sat–Sun all day`. */
export function spansText(spans: string[]): string {
  return spans.map(spanText).join(', ');
}

function spanText(span: string): string {
  const match = /^(\S+)\s+(\d\d:\d\d)-(\d\d:\d\d)$/.exec(span);
  if (!match?.[1]) return span; // a form of a newer agent: as it stands
  const days = match[1].split('-').map(capital).join('–');
  const whole = match[2] === '00:00' && match[3] === '24:00';
  return whole ? `${days} all day` : `${days} ${match[2]}–${match[3]}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
