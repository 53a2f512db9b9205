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

/** The address as a link may carry it: http and https only. Pages choose their own address; we choose what is clickable. */
export function safeHref(url: string): string | null {
  try {
    const parsed = new URL(url);
    return parsed.protocol === 'http:' || parsed.protocol === 'https:' ? parsed.href : null;
  } catch {
    return null;
  }
}

/** A URL whose letters are not escaped, where that can be told. */
export function unescaped(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** An address in the form that people read: host, then the folders, then the page. */
export function trail(url: string): string {
  try {
    const { host, pathname, search } = new URL(url);
    const steps = pathname.split('/').filter(Boolean).map(readable);
    return [host, ...steps].join(' › ') + readable(search);
  } catch {
    return url;
  }
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
