import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

/** Where `npm run dev` finds the API: the mock (npm run mock) unless told otherwise. */
const api = process.env['NEARCRAWL_URL'] ?? 'http://127.0.0.1:8787';

export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  build: {
    // The first releases of each browser that know light-dark(), on which the colours stand.
    target: ['chrome123', 'edge123', 'firefox121', 'safari17.5'],
    // Fonts and icons stay files: a strict Content-Security-Policy forbids data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': api } },
  test: {
    environment: 'happy-dom',
    // happy-dom follows a link before the document's listeners have seen the click; a browser does not.
    environmentOptions: {
      happyDOM: {
        settings: {
          navigation: { disableMainFrameNavigation: true, disableFallbackToSetURL: true },
        },
      },
    },
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test_setup.ts'],
    // A process for each file takes five times as long, and may start too late on a busy machine.
    isolate: false,
    restoreMocks: true,
    unstubGlobals: true,
  },
});
