/** Addresses of crawled pages, as links and as text. */

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
  return readable(url, decodeURI);
}

/** An address in the form that people read. */
export interface Trail {
  /** Host, then the folders, then the page. */
  steps: string[];
  /** Query of the URL, with its question mark. */
  search: string;
}

/** Text of an address, split so that each part can have its own direction. */
export function trail(url: string): Trail {
  try {
    const { host, pathname, search } = new URL(url);
    const segments = pathname.split('/').filter(Boolean);
    return {
      steps: [host, ...segments.map((segment) => readable(segment, decodeURIComponent))],
      search: readable(search, decodeURIComponent),
    };
  } catch {
    return { steps: [inert(url)], search: '' };
  }
}

function readable(text: string, decode: (text: string) => string): string {
  try {
    return inert(decode(text));
  } catch {
    return inert(text);
  }
}

// Controls, marks of direction, and letters without width: text with them can look like another.
const misleading = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu;

/** The text with the characters escaped that are invisible or change the order of others. */
function inert(text: string): string {
  return text.replace(misleading, encodeURIComponent);
}
