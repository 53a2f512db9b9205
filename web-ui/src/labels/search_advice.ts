/** Texts about queries that cannot be searched for, or found nothing. */
import { count } from '../format/number';
import { filterOf, partsOf } from './query';

/** The coordinator's limit of a query, in bytes of UTF-8 text. */
const maxBytes = 1000;

/** Why a query is too long to be sent; undefined when it is not. */
export function lengthProblem(query: string): string | undefined {
  const bytes = new TextEncoder().encode(query).length;
  if (bytes <= maxBytes) return undefined;
  return `This query is too long: it has ${count(bytes)} bytes of at most ${count(maxBytes)}.`;
}

/** What to do about a query that found nothing. */
export function adviceOn(query: string): string[] {
  const tokens = partsOf(query).filter((token) => filterOf(token) || hasWord(token.text));
  if (tokens.length === 0) {
    return ['There is no word to search for: type at least one letter or digit.'];
  }
  if (tokens.every(({ excluded }) => excluded)) {
    return ['Exclusions alone find nothing: add a word or a filter that pages should fit.'];
  }
  return [
    'Check the spelling, or try fewer words.',
    ...(tokens.some(filterOf) ? ['Remove a filter to look further.'] : []),
    'A page can be found a few seconds after an agent has shipped it.',
  ];
}

/** Whether there is a letter or digit; a mark alone is no word. */
function hasWord(text: string): boolean {
  return /(?!\p{M})[\p{Alphabetic}\p{N}]/u.test(text);
}
