import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist', 'node_modules', 'src/api.d.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser } } },
  { files: ['dev/**', '*.config.*'], languageOptions: { globals: { ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    rules: {
      // Ours is not SvelteKit: addresses go through src/routing, not through $app/paths.
      'svelte/no-navigation-without-resolve': 'off',
      'svelte/no-useless-mustaches': ['error', { ignoreStringEscape: true }],
    },
  },
  // Whatever comes from a page of the web is shown as text; nothing may turn it into markup.
  { rules: { 'svelte/no-at-html-tags': 'error' } },
);
