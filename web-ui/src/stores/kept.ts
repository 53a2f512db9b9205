/**
 * What this browser keeps for the page. A browser that keeps nothing for sites throws at each access;
 * then nothing is kept, and the page works without it.
 */

/** The kept text; `null` where there is none. */
export function kept(place: () => Storage, key: string): string | null {
  try {
    return place().getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text, or removes it where it is `null`. */
export function keep(place: () => Storage, key: string, text: string | null): void {
  try {
    if (text === null) place().removeItem(key);
    else place().setItem(key, text);
  } catch {
    // The browser refuses, or is full.
  }
}

/** Of this site, for all its tabs and later visits. */
export const local = (): Storage => localStorage;
/** Of this tab. */
export const ofTab = (): Storage => sessionStorage;
