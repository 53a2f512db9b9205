// Charts and maps: what happened over time and where, for eyes, for keyboards and as tables.
import assert from 'node:assert/strict';
import { open, overflows, settled } from './chromium.mjs';
import { answer } from './world.mjs';

/** Largest first load of the dashboard, in bytes as they are transferred. */
const firstLoad = 200_000;
/** Screens that the overview may be long. */
const screens = { desktop: 2, phone: 4 };

/** The charts of the overview are drawn, and their table has the numbers of the API. */
export async function showsCharts(page) {
  await page.goto('/overview');
  await settled(page);
  await page.locator('.uplot canvas').first().waitFor();
  assert.equal(await page.locator('.uplot canvas').count(), 4);
  await page.getByRole('button', { name: '90 days' }).press('Enter');
  // Until the days are there, the hours are shown.
  await page.locator('section[aria-busy=false]', { hasText: 'Over time' }).waitFor();
  await page.getByRole('button', { name: 'Show as a table' }).press('Enter');
  const table = page.getByRole('region', { name: 'The charts as a table' });
  await table.locator('tbody tr').first().waitFor();
  const { buckets } = await answer(page, '/series?step=day&buckets=90');
  const days = buckets.length > 1 ? buckets.length - 1 : 1;
  assert.equal(await table.locator('tbody tr').count(), days);
  assert.ok(
    buckets.some(({ pages }) => pages > 0),
    'no page was counted on any day',
  );
}

/** An agent's page shows what its owner contributed, as the API sums it up. */
export async function showsContribution(page) {
  const { items } = await answer(page, '/agents?limit=50');
  const busiest = items.toSorted((a, b) => b.pages - a.pages)[0];
  await page.goto(`/agents/${busiest.id}`);
  const contribution = page.getByRole('region', { name: 'Contribution' });
  await contribution.getByText('Fetched this month').waitFor();
  const { buckets } = await answer(page, `/series?agent=${busiest.id}&step=day&buckets=31`);
  assert.ok(
    buckets.some(({ fetched_bytes }) => fetched_bytes > 0),
    'the agent fetched nothing',
  );
  await page.locator('.uplot canvas').first().waitFor();
  await contribution.getByRole('meter', { name: 'Load today' }).waitFor();
}

/** The maps are reached and used by the keyboard alone. */
export async function showsMaps(page) {
  await page.goto('/overview');
  await settled(page);
  await page.getByRole('link', { name: 'Maps', exact: true }).press('Enter');
  await page.getByRole('img', { name: /^World map with/ }).waitFor();
  const world = await answer(page, '/maps/world');
  assert.ok(world.countries.length > 0, 'no host has a country');
  const rows = page.locator('table').first().locator('tbody tr');
  assert.equal(await rows.count(), Math.min(10, world.countries.length));

  await page.getByRole('link', { name: 'IPv4 space' }).press('Enter');
  await page.getByRole('group', { name: 'IPv4 map' }).waitFor();
  const ipv4 = await answer(page, '/maps/ipv4');
  const first = ipv4.runs[0].first * 2 ** 20;
  const part = `${Math.floor(first / 2 ** 28) * 16}.0.0.0/4`;
  await page.evaluate(() => (globalThis.loadedBefore = true));
  await page.getByRole('link', { name: `Enlarge ${part}` }).press('Enter');
  await page.waitForURL(`**prefix=${encodeURIComponent(part)}`);
  await page.getByRole('navigation', { name: 'Enlarged part' }).getByText(part).waitFor();
  const kept = await page.evaluate(() => globalThis.loadedBefore);
  assert.ok(kept, 'the whole dashboard was loaded again');

  await page.getByRole('link', { name: 'Round trips' }).press('Enter');
  const times = page.getByRole('region', { name: 'Round trips' });
  await times.locator('tbody tr').first().waitFor();
  const map = await answer(page, '/maps/round-trips');
  assert.equal(await times.locator('tbody tr').count(), map.rows.length);

  await page.getByRole('link', { name: 'Between agents' }).press('Enter');
  const between = await answer(page, '/maps/agents');
  const expected =
    between.rows.length > 0
      ? page.getByRole('region', { name: 'Round trips between agents' })
      : page.getByText('Nothing was measured yet');
  await expected.waitFor();
}

/** The overview is at most two screens long on a desktop and four on a phone. */
export async function fitsScreens(page) {
  for (const [name, width, height] of [
    ['desktop', 1440, 900],
    ['phone', 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await page.goto('/overview');
    await settled(page);
    await page.locator('.uplot canvas').first().waitFor();
    const long = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(long <= screens[name] * height, `${name}: ${long} px are more than the screens`);
  }
}

/** A map that is wider than a phone says so, and the keyboard alone scrolls it to its last column. */
export async function scrollsWideMaps(browser, url, storageState) {
  const viewport = { width: 320, height: 700 };
  const phone = await open(browser, url, { viewport, storageState });
  const agents = [...Array(12).keys()].map((n) => ({ id: `agt_${n}`, name: `singapore-${n}` }));
  const rows = agents.map((agent) => ({ agent, round_trips_ms: agents.map((_, n) => n + 1) }));
  await phone.route('**/api/v1/maps/agents', (route) =>
    route.fulfill({ json: { all_agents: agents.length, agents, rows } }),
  );
  await phone.goto('/maps?view=agents');
  const area = phone.getByRole('region', { name: 'Round trips between agents' });
  await area.getByRole('row').first().waitFor();
  await phone.getByText('Scroll sideways to see all columns.').waitFor();
  await waitForShade(area, '1');
  // Names of agents are not broken into letters to make room for the columns.
  const { height } = await area.getByRole('rowheader').first().boundingBox();
  assert.ok(height < 60, `a row is ${height} px high`);
  const most = await area.evaluate((element) => element.scrollWidth - element.clientWidth);
  await area.focus();
  while ((await area.evaluate((element) => element.scrollLeft)) < most - 1)
    await phone.keyboard.press('ArrowRight');
  await waitForShade(area, '0');
  assert.equal(await overflows(phone), 0);
  await phone.context().close();
}

/** Waits until the shade at the end of an area, which says that there is more, is as opaque as that. */
async function waitForShade(area, opacity) {
  await area.page().waitForFunction(
    ([element, wanted]) => getComputedStyle(element.parentElement, '::after').opacity === wanted,
    [await area.elementHandle(), opacity],
  );
}

/** The first load is small, and charts and maps are not part of it. */
export async function loadsLittle(page) {
  let transferred = 0;
  const names = [];
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const urls = new Map();
  session.on('Network.responseReceived', ({ requestId, response }) =>
    urls.set(requestId, response.url),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId) ?? '';
    // The event stream never ends; what the API answers grows with the crawl and not with the pages.
    if (url.includes('/api/')) return;
    transferred += encodedDataLength;
    names.push(url.split('/').at(-1));
  });
  await page.goto('/seeds');
  await settled(page);
  assert.ok(transferred > 50_000, 'nothing was transferred');
  assert.ok(transferred <= firstLoad, `${transferred} bytes: ${names.join(', ')}`);
  const charts = /uplot/;
  assert.ok(!names.some((name) => charts.test(name) || /MapsPage/.test(name)), names.join(', '));
  // That the name is still the one of the charts' script.
  const script = page.waitForResponse((response) => charts.test(response.url()));
  await page.goto('/overview');
  await script;
}
