/** Texts about queries that found nothing. */
import { filterOf } from './query';
import { tokensOf } from './query_tokens';

/** What to do about a query that found nothing. */
export function adviceOn(query: string): string[] {
  const tokens = tokensOf(query).filter((token) => filterOf(token) || hasWord(token.text));
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
