/** The search box: here is what a person typed, which filters are in it? */

/** What a filter can name. */
type FilterName = 'site' | 'lang';

/** One `site:` or `lang:` word of a query. */
export interface Filter {
  name: FilterName;
  value: string;
}

const filterWord = /^(site|lang):(\S+)$/i;

/** The filters of a query, in the order in which they were typed. */
export function filtersOf(query: string): Filter[] {
  return wordsOf(query).flatMap((word) => {
    const match = filterWord.exec(word);
    if (!match?.[1] || !match[2]) return [];
    return [{ name: match[1].toLowerCase() as FilterName, value: match[2] }];
  });
}

/** The query with this filter in place of any other of the same name. */
export function withFilter(query: string, filter: Filter): string {
  return [...withoutName(query, filter.name), `${filter.name}:${filter.value}`].join(' ');
}

/** The query without this kind of filter. */
export function withoutFilter(query: string, name: FilterName): string {
  return withoutName(query, name).join(' ');
}

function withoutName(query: string, name: FilterName): string[] {
  return wordsOf(query).filter((word) => filterWord.exec(word)?.[1]?.toLowerCase() !== name);
}

function wordsOf(query: string): string[] {
  return query.split(/\s+/).filter(Boolean);
}
