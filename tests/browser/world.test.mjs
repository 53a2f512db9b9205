// What people do with nearcrawl, in a real browser against a real coordinator. README.md says how to run it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  inEachColour,
  misalignments,
  open,
  overflows,
  settled,
  shoot,
  unlevel,
  violationsIn,
  windows,
} from './chromium.mjs';
import { createsAndRemoves } from './accounts.mjs';
import { joinsByTheForm, makesApiTokens } from './joining.mjs';
import {
  fitsScreens,
  loadsLittle,
  scrollsWideMaps,
  showsCharts,
  showsContribution,
  showsMaps,
} from './charts.mjs';
import { enrol } from './newcomer.mjs';
import {
  explainsAgentsAndAddresses,
  explainsUrls,
  filtersErrors,
  findsSlowHosts,
  listsKeys,
  savesLists,
  tellsWebmasters,
} from './inspector.mjs';
import { looksAndLeaves, pinsAndUnpins } from './constraints.mjs';
import { browser, page, signedIn } from './signed_in.mjs';
import { answer, password, query, url, wellProbed } from './world.mjs';

const heading = (name) => page.getByRole('heading', { level: 1, name });
const results = () => page.locator('main article');

test('anybody searches, and narrows the search to a site', async () => {
  const visitor = await open(browser, url);
  await visitor.goto('/');
  await visitor.getByRole('searchbox').fill(query);
  await visitor.keyboard.press('Enter');
  const first = visitor.locator('main article').first();
  await first.waitFor();
  assert.match(
    await visitor.getByRole('main').getByRole('status').innerText(),
    /^[\d,]+ pages? in /,
  );
  assert.ok(
    (await visitor.locator('main mark').count()) > 0,
    'no word of the query is highlighted',
  );

  const host = await first.locator('h2 a').evaluate((link) => link.host);
  await first.getByRole('link', { name: 'this site only' }).click();
  await visitor.getByRole('list', { name: 'Filters' }).waitFor();
  await visitor.locator('main[aria-busy=false] ol').waitFor();
  const hosts = await visitor
    .locator('main article h2 a')
    .evaluateAll((links) => links.map((link) => link.host));
  assert.deepEqual([...new Set(hosts)], [host]);

  await visitor.goBack();
  await visitor.getByRole('list', { name: 'Filters' }).waitFor({ state: 'detached' });
  assert.deepEqual(visitor.complaints, []);
  await visitor.context().close();
});

test('somebody pages through the results, and back, also after a reload', async () => {
  // Languages alone fit many pages, where the query may fit only one.
  const many = encodeURIComponent('lang:en lang:es lang:fr lang:ar lang:ru lang:zh');
  const { next_cursor } = await answer(page, `/search?q=${many}`);
  assert.notEqual(next_cursor, null, 'the results fit on one page');
  await page.goto(`/?q=${many}`);
  await results().first().waitFor();
  const begin = await shown();
  const next = page.getByRole('link', { name: 'Next' });

  await next.click();
  await page.getByRole('link', { name: 'Previous' }).waitFor();
  await page.locator('main[aria-busy=false] ol').waitFor();
  const second = await shown();
  assert.equal(
    begin.some((url) => second.includes(url)),
    false,
    'a result is on both pages',
  );
  await page.reload();
  await results().first().waitFor();
  assert.deepEqual(await shown(), second);

  await page.getByRole('link', { name: 'Previous' }).click();
  await page.getByRole('link', { name: 'Previous' }).waitFor({ state: 'detached' });
  await page.locator('main[aria-busy=false] ol').waitFor();
  assert.deepEqual(await shown(), begin);
});

/** Addresses of the results on the page. */
const shown = () =>
  results()
    .locator('h2 a')
    .evaluateAll((links) => links.map((link) => link.href));

test('a search without results says so', async () => {
  await page.goto('/?q=qqzzxxyyvvww');
  await page.getByRole('heading', { name: /^Nothing fits/ }).waitFor();
  assert.equal(await results().count(), 0);
});

test('a wrong password is refused with a sentence', async () => {
  const stranger = await open(browser, url);
  await stranger.goto('/sign-in');
  await stranger.getByLabel('Name').fill('admin');
  await stranger.getByLabel('Password').fill(`not ${password}`);
  await stranger.getByRole('button', { name: 'Sign in' }).click();
  const refusal = stranger.getByRole('alert').filter({ hasText: 'You could not be signed in' });
  await refusal.waitFor();
  assert.match(await refusal.innerText(), /Request req_/);
  assert.equal(new URL(stranger.url()).pathname, '/sign-in');
  await stranger.context().close();
});

test('a deep link leads through the sign-in to where it pointed, and survives a reload', async () => {
  const late = await open(browser, url);
  await late.goto('/delegations?reason=home');
  await late.waitForURL('**/sign-in?next=**');
  // The focus is in the first field, so that the keyboard is enough.
  await late.waitForFunction(() => document.activeElement?.name === 'name');
  await late.keyboard.type('admin');
  await late.keyboard.press('Tab');
  await late.keyboard.type(password);
  await late.keyboard.press('Enter');
  await late.waitForURL('**/delegations?reason=home');
  await late.reload();
  assert.equal(await late.getByLabel('Reason').inputValue(), 'home');
  await late.context().close();
});

test('the overview is live', async () => {
  await page.goto('/overview');
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.getByRole('list', { name: 'Delegations by reason' }).waitFor();
  const overview = await answer(page, '/overview');
  assert.ok(overview.pages.indexed > 0, 'the world has no indexed page');
});

test('a machine joins with a token, waits, and is approved, paused, resumed and revoked', async () => {
  const name = `browser test ${Date.now()}`;
  await page.goto('/agents');
  const id = await enrol(url, await joinToken(name), name);

  // The page updates itself from the event stream, without a reload.
  await page.getByRole('button', { name: `Approve ${name}` }).click();
  const asked = page.getByRole('dialog', { name: `Approve ${name}?` });
  await asked.getByText(/^The subnet of its home address is delegated to it/).waitFor();
  await asked.getByText('https://browser-test.example/crawler').waitFor();
  await shoot(page, 'approve');
  await confirm('Approve', `${name} is approved.`);
  assert.equal((await answer(page, `/agents/${id}`)).state, 'approved');

  await page.getByRole('button', { name: `Pause ${name}` }).click();
  await confirm('Pause', `${name} is paused.`);
  await page.getByRole('button', { name: `Resume ${name}` }).click();
  await confirm('Resume', `${name} is working again.`);

  await page.getByRole('link', { name, exact: true }).first().click();
  await heading(name).waitFor();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await confirm('Revoke', `${name} is revoked.`);
  assert.equal((await answer(page, `/agents/${id}`)).state, 'revoked');
  await page.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
});

/** Makes a token in the dashboard; it must be shown there once and never again. */
async function joinToken(name) {
  await page.getByRole('button', { name: 'Join token', exact: true }).click();
  await page.getByLabel('Recipient').fill(name);
  await page.getByRole('button', { name: 'Make token' }).click();
  const dialog = page.getByRole('dialog', { name: /^Join token for/ });
  const token = await dialog.locator('pre.once').innerText();
  assert.equal(await dialog.getByText('--join-token-file join-token').count(), 1);
  await shoot(page, 'join-token');
  await dialog.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('rowheader', { name }).waitFor();
  assert.equal((await page.content()).includes(token), false, 'the token is still on the page');
  return token;
}

/** Says yes to the question on the screen, and waits for the news. */
async function confirm(verb, news) {
  await page.getByRole('dialog').getByRole('button', { name: verb }).click();
  await page.getByText(news).waitFor();
}

test('a partner joins by the public form', () => joinsByTheForm(browser, page, url));

test('a script has a token of its own', () => makesApiTokens(page, url));

test('an admin opens the explanation of a delegation', async () => {
  await page.goto('/delegations');
  const delegation = await wellProbed(page);
  await page.getByLabel('Find').fill(delegation.subnet);
  await page.waitForURL('**/delegations?q=**');
  await page
    .getByRole('link', {
      name: `Explanation of ${delegation.subnet}`,
      exact: true,
    })
    .click();
  await heading(new RegExp(`^Why .+ crawls `)).waitFor();

  const explanation = await answer(page, `/delegations/${delegation.id}/explanation`);
  await page.getByText(explanation.summary, { exact: true }).waitFor();
  const rows = page.locator('tr.probe');
  assert.equal(await rows.count(), explanation.trail.length);
  const asked = await rows.locator('th a').allInnerTexts();
  assert.deepEqual(
    asked,
    explanation.trail.map((probe) => probe.agent.name),
  );
  const isSearched = ['predicted', 'threshold', 'company', 'lowest'].includes(delegation.reason);
  const marks = await page.locator('tr.chosen').getByText('Chosen').count();
  assert.equal(marks, isSearched ? 1 : 0);
  const chain = await page.locator('ol .subnet').allInnerTexts();
  assert.deepEqual(
    chain,
    explanation.chain.map((link) => link.subnet),
  );
});

test('a delegation is pinned, and the pin is removed', () => pinsAndUnpins(page));

test('overrides and exclusions are previewed before anything changes', () => looksAndLeaves(page));

test('the explanation can be reached with the keyboard alone', async () => {
  await page.goto('/overview');
  await settled(page);
  await page.getByRole('link', { name: 'Delegations', exact: true }).focus();
  await page.keyboard.press('Enter');
  await heading('Delegations').waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  const first = page.locator('tbody th a').first();
  await first.waitFor();
  await first.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/explanation');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
});

test('an agent’s home address is found in the hierarchy', async () => {
  const { items } = await answer(page, '/agents?limit=1');
  await page.goto('/hierarchy');
  await page.getByLabel('IPv4 or IPv6 address').fill(items[0].home);
  await page.getByRole('button', { name: 'Look up' }).click();
  await page.getByText('smallest subnet that holds it').waitFor();
  await page.goto('/hierarchy?address=not-an-address');
  await page.getByRole('alert').filter({ hasText: 'could not be looked up' }).waitFor();
});

test('a URL is explained, by the keyboard alone', () => explainsUrls(page));

test('agents and addresses are explained', () => explainsAgentsAndAddresses(page));

test('the slowest hosts are found from the overview', () => findsSlowHosts(page));

test('errors are filtered by day, also after a reload', () => filtersErrors(page));

test('charts show what happened, also as a table', () => showsCharts(page));

test('an agent’s page shows what its owner contributed', () => showsContribution(page));

test('maps are used by the keyboard alone', () => showsMaps(page));

test('a wide map shows that it scrolls, and the keyboard scrolls it', () =>
  scrollsWideMaps(browser, url, signedIn));

test('the overview fits on two screens, and on four of a phone', () => fitsScreens(page));

test('the first load is small', () => loadsLittle(page));

test('a list is saved as CSV', () => savesLists(page));

test('the keys are listed, and text stays text', () => listsKeys(page));

test('webmasters find out about the crawler', () => tellsWebmasters(page));

test('a refused seed is explained and can be put right', async () => {
  await page.goto('/seeds');
  await page.getByLabel('URLs, one to a line').fill('gopher://old.example/');
  await page.getByRole('button', { name: 'Add 1 seed' }).click();
  await page.getByRole('heading', { name: 'Rejected' }).waitFor();
  assert.equal(await page.getByLabel('URLs, one to a line').inputValue(), 'gopher://old.example/');
});

test('an admin creates a viewer and removes it, and the audit log shows both', () =>
  createsAndRemoves(browser, page, url));

test('a preset of the policy is chosen and taken back', async () => {
  const before = await answer(page, '/policy');
  assert.equal(before.preset, 'default');
  await page.goto('/policy');
  for (const [preset, name] of [
    ['paper', 'As in the paper'],
    ['default', 'Default'],
  ]) {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use preset' }).click();
    await page.getByRole('button', { name: `${name}: in use` }).waitFor();
    assert.equal((await answer(page, '/policy')).preset, preset);
  }
  assert.deepEqual(await answer(page, '/policy'), before);
});

test('an expired session is taken up again where it was', async () => {
  await page.goto('/seeds');
  await page.getByLabel('URLs, one to a line').fill('gopher://kept.example/');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Add 1 seed' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('URLs, one to a line').inputValue(), 'gopher://kept.example/');
});

test('an unknown address says so', async () => {
  await page.goto('/no/such/page');
  await heading('There is no such page').waitFor();
  await page.goto('/delegations/dlg_999999999/explanation');
  await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor();
});

// Side by side, because each window waits for its own process of Chromium most of the time.
test('every page holds in each window and colour', { concurrency: true }, async (t) => {
  const inWindow = ([size, viewport]) =>
    t.test(`in a ${size} window`, () => everyPageHolds(size, viewport));
  await Promise.all(Object.entries(windows).map(inWindow));
});

/** All pages are shown in a window of this size. */
async function everyPageHolds(size, viewport) {
  const shown = await open(browser, url, { viewport, storageState: signedIn });
  const delegation = await wellProbed(shown);
  const agents = await answer(shown, '/agents?limit=1');
  const hosts = await answer(shown, '/hosts?sort=bytes&limit=1');
  const pages = {
    home: '/',
    search: `/?q=${encodeURIComponent(query)}`,
    overview: '/overview',
    agents: '/agents',
    agent: `/agents/${agents.items[0].id}`,
    regions: '/regions',
    delegations: '/delegations',
    explanation: `/delegations/${delegation.id}/explanation`,
    inspector: `/inspector?q=${agents.items[0].home}`,
    hosts: '/hosts',
    host: `/hosts/${hosts.items[0].id}`,
    errors: '/errors',
    crawler: '/crawler',
    'host-an-agent': '/host-an-agent',
    invitation: '/invitation#secret',
    maps: '/maps',
    'maps-ipv4': '/maps?view=ipv4',
    'maps-round-trips': '/maps?view=round-trips',
    'maps-agents': '/maps?view=agents',
    constraints: '/constraints',
    hidden: '/hidden',
    hierarchy: `/hierarchy?address=${agents.items[0].home}`,
    seeds: '/seeds',
    policy: '/policy',
    accounts: '/accounts',
    audit: '/audit',
  };
  for (const [name, path] of Object.entries(pages)) await holds(shown, size, name, path);
  await shown.context().clearCookies();
  await holds(shown, size, 'sign-in', '/sign-in');
  assert.deepEqual(shown.complaints, []);
  await shown.context().close();
}

/** A page is shown, photographed, readable for everybody, and no wider than its window. */
async function holds(shown, size, name, path) {
  await shown.goto(path);
  await settled(shown);
  await inEachColour(shown, size, async (colour) => {
    const look = `${size}-${colour}`;
    await shoot(shown, `${name}.${look}`);
    assert.deepEqual(await violationsIn(shown, colour), [], `${path} in ${look}`);
    assert.equal(await overflows(shown), 0, `${path} in ${look} is wider than its window`);
    // On a wide window some tables stand beside their heading, and on a narrow one values break.
    const faults = size === 'desktop' ? unlevel : misalignments;
    assert.deepEqual(await faults(shown), [], `${path} in ${look}`);
  });
}
