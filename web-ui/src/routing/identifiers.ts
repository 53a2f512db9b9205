/** Identifiers in sentences of the API, as links to their pages. Pure. */
import { agentAt, explanationOf, hostAt } from './route';

/** A part of a sentence; an identifier with a page has its path. */
interface Piece {
  text: string;
  href?: string;
}

const pages: Readonly<Record<string, (id: string) => string>> = {
  agt: agentAt,
  dlg: explanationOf,
  hst: hostAt,
};

/** The sentence in order, divided at the identifiers of agents, delegations and hosts. */
export function pieces(sentence: string): Piece[] {
  return sentence
    .split(/\b((?:agt|dlg|hst)_\d+)\b/)
    .map((text, index) => (index % 2 === 1 ? linked(text) : { text }))
    .filter(({ text }) => text !== '');
}

function linked(id: string): Piece {
  const href = pages[id.slice(0, 3)]?.(id);
  return href ? { text: id, href } : { text: id };
}
