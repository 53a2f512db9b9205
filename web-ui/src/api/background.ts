/** Requests that the page sends by itself, by a timer or after a change: the idle time goes on. */
const signals = new WeakSet<AbortSignal>();

/** Marks the requests with this signal. */
export function inBackground(signal: AbortSignal): AbortSignal {
  signals.add(signal);
  return signal;
}

/** The headers that a request with this signal needs. */
export function backgroundHeaders(signal: AbortSignal | undefined): Record<string, string> {
  return signal && signals.has(signal) ? { 'nearcrawl-background': '1' } : {};
}
