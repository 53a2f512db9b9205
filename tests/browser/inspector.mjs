// What became of a URL, a host or an agent: the inspector, the lists of hosts and errors, the keys.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { settled } from './chromium.mjs';
import { answer, query } from './world.mjs';

/** The inspector's box, reached by the key / from the overview. */
export async function inspect(page, text) {
  await page.goto('/overview');
  await settled(page);
  await page.keyboard.press('/');
  await page.waitForURL('**/inspector');
  await page.waitForFunction(() => document.activeElement?.id === 'inspected');
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: '.' }).waitFor();
}

/** The state of a step, as the page shows it. */
export const stateOf = (page, step) =>
  page
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: step, exact: true }) })
    .locator('.state')
    .innerText();

/** A URL that nobody named, and one that is in the index, each by the keyboard alone. */
export async function explainsUrls(page) {
  await inspect(page, 'http://never-seen.example/page');
  assert.equal(await stateOf(page, 'Found'), 'Stuck');
  await page.getByText('Add the URL as a seed.').waitFor();

  const { items } = await answer(page, `/search?q=${encodeURIComponent(query)}`);
  await inspect(page, items[0].url);
  assert.equal(await stateOf(page, 'Index'), 'Done');
  assert.equal(await stateOf(page, 'Delegation'), 'Done');
  await page.reload();
  // The page is there: what its agent waits for now is not the conclusion.
  await page.locator('#conclusion', { hasText: 'Searches find the page.' }).waitFor();
}

/** An agent and its home address. */
export async function explainsAgentsAndAddresses(page) {
  const { items } = await answer(page, '/agents?limit=1');
  await inspect(page, items[0].id);
  await page.getByRole('heading', { name: 'Agent', exact: true }).waitFor();
  await inspect(page, items[0].home);
  assert.equal(await stateOf(page, 'Subnet'), 'Done');
}

/** The slowest hosts are two clicks from the overview; a host has its last fetches. */
export async function findsSlowHosts(page) {
  await page.goto('/overview');
  await page.getByRole('link', { name: 'The slowest hosts' }).click();
  await page.waitForURL('**/hosts?sort=slowest');
  const { items } = await answer(page, '/hosts?sort=slowest&limit=5');
  assert.ok(items.length > 0, 'the world has no host that was fetched from');
  const times = items.map((host) => host.mean_ms);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  await page.locator('tbody th a').first().click();
  await page.getByRole('heading', { level: 1, name: items[0].name }).waitFor();
  await page.getByRole('heading', { name: 'Last fetches' }).waitFor();
  await page.getByRole('link', { name: 'Explain', exact: true }).click();
  await page.waitForURL('**/inspector?q=**');
}

/** Errors of a day, and the reset of a filter that nothing passes. */
export async function filtersErrors(page) {
  await page.goto('/errors');
  await page.getByLabel('Day').selectOption({ label: '6 days ago' });
  await page.waitForURL('**/errors?day=6');
  await page.getByText('No errors on this day').waitFor();
  await page.reload();
  assert.equal(await page.getByLabel('Day').inputValue(), '6');
}

/** A list is saved with the names of its fields, every host of it a line. */
export async function savesLists(page) {
  await page.goto('/hosts?sort=bytes');
  await settled(page);
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const download = await saving;
  assert.equal(download.suggestedFilename(), 'hosts.csv');
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  const { items } = await answer(page, '/hosts?sort=bytes&limit=500');
  assert.ok(lines[0].startsWith('id,name,state,'), lines[0]);
  assert.ok(lines.length > items.length || items.length === 500, 'hosts are missing');
  const savingJson = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as JSON' }).click();
  const rows = JSON.parse(await readFile(await (await savingJson).path(), 'utf8'));
  assert.ok(rows.length >= items.length, 'hosts are missing');
  await savesShortLists(page);
}

/** Lists that share a page have small buttons of their own. */
async function savesShortLists(page) {
  const lists = [
    ['/constraints', 'moves'],
    ['/constraints', 'pins'],
    ['/constraints', 'exclusions'],
    ['/agents', 'join tokens'],
    ['/accounts', 'accounts'],
    ['/accounts', 'api tokens'],
  ];
  for (const [path, list] of lists) {
    await page.goto(path);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: `Save ${list} as JSON` }).click();
    const rows = JSON.parse(await readFile(await (await saving).path(), 'utf8'));
    const { items } = await answer(page, `/${list.replace(' ', '-')}?limit=500`);
    assert.equal(rows.length, items.length, `${list} are missing`);
  }
}

/** The list of keys, and that a typed slash stays text. */
export async function listsKeys(page) {
  await page.goto('/overview');
  await settled(page);
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Keys' }).press('Enter');
  await dialog.waitFor();
  await page.goto('/hosts');
  await page.getByLabel('Find').fill('a');
  await page.getByLabel('Find').press('/');
  assert.equal(await page.getByLabel('Find').inputValue(), 'a/');
}

/** Anybody may read how to slow the crawler down, and an unknown path answers 404. */
export async function tellsWebmasters(page) {
  await page.goto('/');
  await page.getByRole('link', { name: 'About the crawler' }).click();
  await page.getByRole('heading', { level: 1, name: 'About this crawler' }).waitFor();
  const status = async (path) => (await page.request.get(path)).status();
  assert.deepEqual(
    [await status('/crawler'), await status('/robots.txt'), await status('/no/such/page')],
    [200, 200, 404],
  );
}
