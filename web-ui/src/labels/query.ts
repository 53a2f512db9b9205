/** Filters in the text of a query. */
import { tokensOf, type Token } from './query_tokens';

/** What a filter can name. */
type FilterName = 'site' | 'lang';

/** A `site:` or `lang:` of a query, without the hyphen that makes it exclude. */
export interface Filter {
  name: FilterName;
  value: string;
}

/** A filter as it is in a query. */
export interface PlacedFilter extends Filter {
  excluded: boolean;
  /** Offset in the query. */
  start: number;
  /** Offset behind the filter. */
  end: number;
}

/** The filters of a query, in the order in which they were typed. */
export function filtersOf(query: string): PlacedFilter[] {
  return partsOf(query).flatMap((token) => filterOf(token) ?? []);
}

/** The query with this filter in place of others of the same name; exclusions stay. */
export function withFilter(query: string, filter: Filter): string {
  const replaced = filtersOf(query).filter(
    ({ name, excluded }) => name === filter.name && !excluded,
  );
  const rest = replaced.reduceRight(withoutPart, query);
  // A phrase that is not closed would swallow a filter behind it.
  return joined(`${filter.name}:${filter.value}`, rest);
}

/** The query without one of its filters, by its place among them. */
export function withoutFilter(query: string, place: number): string {
  const filter = filtersOf(query)[place];
  return filter ? withoutPart(query, filter) : query;
}

/** Text of a filter, such as `site: example.org`. */
export function filterText({ name, value, excluded }: PlacedFilter): string {
  return `${excluded ? 'without ' : ''}${name}: ${value}`;
}

/** A filter without its value, which may follow after a space or in quotes. */
const bareName = /^(site|lang)[:：]$/i;

/** The tokens of a query, where a filter and the value behind it are one. */
export function partsOf(query: string): Token[] {
  const parts: Token[] = [];
  for (const token of tokensOf(query)) {
    const whole = withValue(parts.at(-1), token);
    if (whole) parts.splice(-1, 1, whole);
    else parts.push(token);
  }
  return parts;
}

/** A filter together with the token behind it; undefined where that is not its value. */
function withValue(name: Token | undefined, value: Token): Token | undefined {
  if (!name || name.quoted || !bareName.test(name.text) || value.excluded) return undefined;
  if (!value.quoted && !mayFollow(name.text, value)) return undefined;
  const whole = { ...name, text: name.text + value.text, end: value.end };
  return filterOf(whole) && whole;
}

/** No filter is the value of another one, and a word without a dot is the next of a sentence. */
function mayFollow(name: string, value: Token): boolean {
  if (filterOf(value) || bareName.test(value.text)) return false;
  return !/^site/i.test(name) || /[.:]/.test(value.text.replace(/\.+$/, ''));
}

/** The filter that a token is; undefined when it is searched for. */
export function filterOf({ text, quoted, excluded, start, end }: Token): PlacedFilter | undefined {
  const match = /^(site|lang)[:：](.+)$/is.exec(text);
  if (quoted || !match?.[1] || !match[2]) return undefined;
  const name = match[1].toLowerCase() as FilterName;
  const value = match[2];
  return isUnderstood[name](value) ? { name, value, excluded, start, end } : undefined;
}

/** Whether the coordinator takes a value as a filter; it searches for the words of any other. */
const isUnderstood: Readonly<Record<FilterName, (value: string) => boolean>> = {
  site: namesHost,
  lang: (value) => /^[a-z]{2,3}(?:[-_]|$)/i.test(value),
};

/** Whether it is a host, a domain with a leading dot, or a URL. */
function namesHost(value: string): boolean {
  const rest = value.replace(/^.*?:\/\//s, '');
  const authority = rest.replace(/[/?#].*$/s, '').replace(/^\.+|\.+$/g, '');
  return URL.canParse(`http://${authority}/`);
}

function withoutPart(query: string, { start, end }: { start: number; end: number }): string {
  return joined(query.slice(0, start).trimEnd(), query.slice(end).trimStart());
}

function joined(...parts: string[]): string {
  return parts.filter(Boolean).join(' ');
}
