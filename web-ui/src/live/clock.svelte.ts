/** The present, for relative times: one timer for the whole page, still while nobody looks. */

const step = 5000;

class Clock {
  now = $state(Date.now());

  /** Begins to tick; returns how to stop. */
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
