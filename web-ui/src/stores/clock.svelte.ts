/** The present time, for relative times: one timer for the whole page, paused while it is hidden. */

const step = 5000;

class Clock {
  now = $state(Date.now());
  /** Changes every 15 seconds. */
  readonly quarter = $derived(Math.floor(this.now / 15_000));

  /** Whether a time has passed; one that is not set never does. */
  isPast(iso: string | null): boolean {
    return iso !== null && Date.parse(iso) <= this.now;
  }

  /** Starts the timer; returns a function that stops it. */
  start(): () => void {
    const tick = () => {
      if (!document.hidden) this.now = Date.now();
    };
    const timer = setInterval(tick, step);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }
}

export const clock = new Clock();
