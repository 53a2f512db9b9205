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
