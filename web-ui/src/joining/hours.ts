/** The hours that the form offers, as spans of the agent. */

/** A choice of the form. */
export interface HoursChoice {
  id: 'always' | 'nights' | 'own';
  name: string;
  spans: string[];
}

/** The choices; `own` lets the partner write spans. */
export const hoursChoices: HoursChoice[] = [
  {
    id: 'nights',
    name: 'Nights and weekends',
    spans: ['mon-fri 22:00-06:00', 'sat-sun 00:00-24:00'],
  },
  { id: 'always', name: 'At all hours', spans: [] },
  { id: 'own', name: 'Other hours', spans: [] },
];

/** The spans in a text with one span a line. */
export function spansOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The time zones that the browser knows, and its own. */
export function zones(): { all: string[]; own: string } {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = Intl.supportedValuesOf('timeZone');
  const all = known.includes('UTC') ? known : ['UTC', ...known];
  return { all: all.includes(own) ? all : [own, ...all], own };
}
