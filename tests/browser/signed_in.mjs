// One sign-in for all tests of a file, and a page of its own for each test. Importing this registers the hooks.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import { launch, open, signIn } from './chromium.mjs';
import { password, url } from './world.mjs';

/** The browser of the file. */
export let browser;
/** The page of the present test. */
export let page;
/** Cookies of the sign-in, for pages that a test opens itself. */
export let signedIn;

before(async () => {
  browser = await launch();
  const first = await open(browser, url);
  await signIn(first, password);
  signedIn = await first.context().storageState();
  await first.context().close();
});

after(() => browser?.close());

beforeEach(async () => {
  page = await open(browser, url, { storageState: signedIn });
});

afterEach(async () => {
  const { complaints } = page;
  await page.context().close();
  assert.deepEqual(complaints, [], 'the page complained on its console');
});
