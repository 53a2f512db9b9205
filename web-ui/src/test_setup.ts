/** Every test starts with a new page: files share one process, and with it what the page holds. */
import { beforeEach } from 'vitest';
import { router } from './routing/router.svelte';
import { session } from './session/session.svelte';
import { toasts } from './ui/messages.svelte';

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  session.abandon();
  toasts.list = [];
  router.mayLeave = undefined;
  router.go('/', { replace: true });
});
