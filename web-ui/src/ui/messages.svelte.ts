/** Short messages over the page: what was done, and what went wrong. */
import { asProblem, type Problem } from '../api/problem';

interface Toast {
  id: number;
  text: string;
  problem?: Problem;
}

const goodNewsStays = 6000;

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  /** A success, which disappears by itself. */
  say(text: string): void {
    const id = this.#add({ text });
    setTimeout(() => this.dismiss(id), goodNewsStays);
  }

  /** A problem; it stays until it is dismissed. */
  fail(text: string, thrown: unknown): void {
    this.#add({ text, problem: asProblem(thrown) });
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(toast: Omit<Toast, 'id'>): number {
    const id = this.#next++;
    this.list = [...this.list.slice(-3), { id, ...toast }];
    return id;
  }
}

export const toasts = new Toasts();
