// What people ask of a crawl, each answered from the overview in at most three steps, by the keyboard alone.
import assert from 'node:assert/strict';
import { settled } from './chromium.mjs';
import { inspect, stateOf } from './inspector.mjs';
import { heartbeats, newcomer } from './newcomer.mjs';
import { answer, post, query, until } from './world.mjs';

/** Opens the palette on the overview, types, and takes the first command. */
async function command(page, text) {
  await page.goto('/overview');
  await settled(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Page, or what to inspect' }).waitFor();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

/** Moves the focus with Tab until it is on a link of this name, and follows it. */
async function follow(page, name) {
  for (let presses = 0; presses < 200; presses += 1) {
    await page.keyboard.press('Tab');
    const text = await page.evaluate(() => document.activeElement?.textContent?.trim());
    if (text === name) return page.keyboard.press('Enter');
  }
  throw new Error(`the keyboard does not reach the link ${name}`);
}

/** A URL that the site's robots rules forbid. */
export async function findsForbiddenUrls(page) {
  const { items } = await answer(page, '/hosts?sort=disallowed&limit=20');
  assert.ok(items.length > 0, 'the world has no host with a forbidden URL');
  for (const host of items) {
    const { recent } = await answer(page, `/hosts/${host.id}`);
    const forbidden = recent.find((fetch) => fetch.outcome === 'disallowed');
    if (!forbidden) continue;
    await inspect(page, forbidden.url);
    assert.equal(await stateOf(page, 'robots.txt'), 'Stuck');
    await page.getByText("Only the site's owner can allow it.").waitFor();
    return;
  }
  throw new Error('no forbidden URL is among the last fetches of the hosts with most of them');
}

/** A host that DNS does not know. */
export async function findsFailedLookups(page) {
  const name = `no-such-host-${Date.now()}.example`;
  await post(page, '/seeds', { urls: [`http://${name}/`] });
  await until('the lookup has failed', async () => {
    const { steps } = await answer(page, `/explain?q=http://${name}/`);
    return steps.find((step) => step.step === 'dns')?.sentence.includes('failed');
  });
  await inspect(page, `http://${name}/`);
  assert.notEqual(await stateOf(page, 'Address'), 'Done');
  await page.getByText(/^The lookup of .+ has failed|was given up/).first().waitFor();
}

/** A URL whose agent sleeps. The agent gets the subnet for a while, and gives it back at the end. */
export async function findsSleepingAgents(page, url) {
  const name = `sleeper ${Date.now()}`;
  const { token } = await post(page, '/join-tokens', { name, ttl_s: 3600 });
  const sleeper = await newcomer(url, token, name);
  await post(page, `/agents/${sleeper.id}/approve`);
  const beat = await heartbeats(url, sleeper);
  await beat({ presence: 'awake' });
  const { items } = await answer(page, '/hosts?state=delegated&limit=100');
  const host = items.filter((item) => item.pages > 0).toSorted((a, b) => a.pages - b.pages)[0];
  const { delegation } = await answer(page, `/hosts/${host.id}`);
  const overridden = await post(page, `/delegations/${delegation}/override`, {
    agent: sleeper.id,
    reason: 'browser test',
  });
  await until('the sleeping agent has the host', async () => {
    const now = (await answer(page, `/hosts/${host.id}`)).host;
    return now.agent?.id === sleeper.id && now.state === 'delegated';
  });
  await beat({ presence: 'asleep', until: Date.now() + 3_600_000 });

  await inspect(page, `${host.name}/a-page-that-nobody-has-fetched`);
  assert.equal(await stateOf(page, 'Agent'), 'Waiting');
  await page.getByText(new RegExp(`^${name} sleeps until`)).first().waitFor();

  await post(page, `/delegations/${overridden.delegation.id}/override`, {
    agent: host.agent.id,
    reason: 'browser test',
  });
  await until('the host is back', async () => {
    await beat({ presence: 'awake' });
    return (await answer(page, `/hosts/${host.id}`)).host.agent?.id === host.agent.id;
  });
  await post(page, `/agents/${sleeper.id}/revoke`);
}

/** A page that was crawled some time ago. */
export async function findsCrawledPages(page) {
  const { items } = await answer(page, `/search?q=${encodeURIComponent(query)}`);
  await command(page, items[0].url);
  await page.waitForURL('**/inspector?q=**');
  assert.equal(await stateOf(page, 'Index'), 'Done');
}

/** The five slowest hosts. */
export async function listsSlowestHosts(page) {
  await command(page, 'slowest');
  await page.waitForURL('**/hosts?sort=slowest');
  const { items } = await answer(page, '/hosts?sort=slowest&limit=5');
  await page.locator('tbody th a').first().waitFor();
  const names = await page.locator('tbody th a').allInnerTexts();
  assert.deepEqual(
    names.slice(0, 5),
    items.slice(0, 5).map((host) => host.name),
  );
}

/** The agent with most errors today. */
export async function findsMostErrors(page) {
  await command(page, 'errors');
  await page.waitForURL('**/errors');
  const { agents } = await answer(page, '/errors');
  if (agents.length === 0) return page.getByText('No errors on this day').waitFor();
  const table = page.getByRole('region', { name: 'By agent' });
  await table.getByRole('row').nth(1).getByText(agents[0].agent.name, { exact: true }).waitFor();
}

/** What people changed yesterday: the same filter as today, which has entries in a new world. */
export async function listsChangesOfADay(page) {
  const shown = page.getByRole('region', { name: 'Audit log' });
  await command(page, 'audit');
  await page.waitForURL('**/audit');
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  await follow(page, 'Yesterday');
  await page.waitForURL('**/audit?from=*&until=*');
  await page.getByText('No entry matches').waitFor();
  await command(page, 'audit');
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  await follow(page, 'Today');
  await page.waitForURL('**/audit?from=*');
  await shown.getByRole('row').nth(1).waitFor();
}
