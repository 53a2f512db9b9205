// What admins do to agents and subnets: drain, what-if, several at once, pins of a range, the policy.
import assert from 'node:assert/strict';
import { seriousViolations, settled, shoot } from './chromium.mjs';
import { newcomer } from './newcomer.mjs';
import { answer, post, until, wellProbed } from './world.mjs';

/** Enrols agents that wait for approval. */
async function enrolled(page, url, names) {
  const agents = [];
  for (const name of names) {
    const { token } = await post(page, '/join-tokens', { name, ttl_s: 3600 });
    agents.push(await newcomer(url, token, name));
  }
  return agents;
}

/** Two agents are approved and paused together, and then revoked. */
export async function actsOnSeveralAgents(page, url) {
  const names = [1, 2].map((nth) => `several ${nth} ${Date.now()}`);
  const agents = await enrolled(page, url, names);
  for (const [verb, state] of [
    ['Approve', 'approved'],
    ['Pause', 'paused'],
  ]) {
    await page.goto('/agents?q=several&sort=name');
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    const bar = page.getByRole('toolbar', { name: 'Selected agents' });
    await bar.getByText('2 agents selected').waitFor();
    await bar.getByRole('button', { name: verb, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `${verb} several agents?` });
    assert.deepEqual(await seriousViolations(page), [], `the dialog to ${verb}`);
    await dialog.getByRole('button', { name: `${verb} 2` }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const { id } of agents) assert.equal((await answer(page, `/agents/${id}`)).state, state);
  }
  for (const { id } of agents) await post(page, `/agents/${id}/revoke`);
}

/** An agent that holds its home subnet only is drained, seen as drained, and taken back. */
export async function drainsAndEnds(page, url) {
  const name = `drained ${Date.now()}`;
  const [agent] = await enrolled(page, url, [name]);
  await post(page, `/agents/${agent.id}/approve`);
  await page.goto(`/agents/${agent.id}`);
  await page.getByRole('button', { name: 'Compute' }).click();
  await page.getByText(/would be reassigned|holds no subnet/).waitFor();
  await page.getByRole('button', { name: 'Drain', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Drain ${name}?` });
  await dialog.getByText(/would be reassigned|holds no subnet/).waitFor();
  await shoot(page, 'drain');
  assert.deepEqual(await seriousViolations(page), [], 'the dialog to drain');
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.getByText(`${name} is being drained.`).waitFor();
  const panel = page.getByRole('region', { name: 'Drain' });
  // The page updates itself from the event stream.
  await panel.getByText(/^It has neither subnets nor hosts/).waitFor();
  await shoot(page, 'drained');
  await panel.getByRole('button', { name: 'End drain' }).click();
  const question = page.getByRole('dialog', { name: `End the drain of ${name}?` });
  await question.getByRole('button', { name: 'End drain' }).click();
  await panel.waitFor({ state: 'detached' });
  assert.equal((await answer(page, `/agents/${agent.id}`)).drain, null);
  await post(page, `/agents/${agent.id}/revoke`);
}

/** A range is typed, the agents that measured it are offered with their times, and it is pinned. */
export async function pinsARange(page) {
  const { subnet } = await wellProbed(page);
  const why = `range ${Date.now()}`;
  await page.goto('/constraints');
  await page.getByRole('button', { name: 'Pin a range' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pin a range' });
  await dialog.getByLabel('Range').fill(subnet);
  const { items } = await answer(page, `/measured-agents?range=${encodeURIComponent(subnet)}`);
  const nearest = dialog.locator('optgroup[label^="Measured"] option').first();
  await nearest.waitFor({ state: 'attached' });
  assert.match(await nearest.innerText(), new RegExp(`^${items[0].agent.name}: .+ m?s`));
  await dialog.getByLabel('Agent').selectOption(items[0].agent.id);
  await dialog.getByLabel('Reason').fill(why);
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByRole('region', { name: 'Preview' }).waitFor();
  await shoot(page, 'pin-range');
  assert.deepEqual(await seriousViolations(page), [], 'the dialog to pin a range');
  await dialog.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('row').filter({ hasText: why }).waitFor();
  const pin = (await answer(page, '/pins')).items.find((each) => each.reason === why);
  await page.request.delete(`/api/v1/pins/${pin.id}`);
}

/** Lists are sorted and counted by the server, and the address has the order. */
export async function sortsAndCounts(page) {
  await page.goto('/agents');
  await page.getByRole('link', { name: 'Pages', exact: true }).click();
  await page.waitForURL('**/agents?sort=pages');
  const { items, total } = await answer(page, '/agents?sort=pages');
  await page.getByText(`${total} agents`).waitFor();
  await page.reload();
  await page.locator('tbody th a').first().waitFor();
  assert.deepEqual(
    await page.locator('tbody th a').allInnerTexts(),
    items.map((agent) => agent.name),
  );
  await page.goto('/hosts');
  const { counts } = await answer(page, '/hosts?counts=true');
  await page.getByText(`${counts.total.count.toLocaleString('en')} hosts`).waitFor();
}

/** The palette reaches pages and the inspector, and leaves the focus where it was. */
export async function commands(page) {
  await page.goto('/hosts');
  await settled(page);
  await page.getByLabel('Find').focus();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.waitFor();
  await shoot(page, 'palette');
  assert.deepEqual(await seriousViolations(page), [], 'the palette');
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'filter-text');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('policy');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/policy');
}

/** Edits of the policy are not lost by a click on another page. */
export async function warnsBeforeLeaving(page) {
  await page.goto('/policy');
  const field = page.getByLabel('Revisit interval', { exact: true });
  await field.waitFor();
  const before = await answer(page, '/policy');
  assert.equal(before.revisit_s % 86_400, 0);
  assert.equal(await field.inputValue(), String(before.revisit_s / 86_400), 'in days');
  await field.fill('9');
  await page.getByRole('button', { name: /^Default: / }).first().waitFor();
  let asked = 0;
  page.on('dialog', (dialog) => {
    asked += 1;
    return asked === 1 ? dialog.dismiss() : dialog.accept();
  });
  await page.getByRole('link', { name: 'Hosts', exact: true }).click();
  assert.equal(new URL(page.url()).pathname, '/policy');
  assert.equal(await field.inputValue(), '9');
  await page.getByRole('link', { name: 'Hosts', exact: true }).click();
  await page.waitForURL('**/hosts');
  assert.equal(asked, 2);
  assert.deepEqual(await answer(page, '/policy'), before);
}

/** The policy page says who changed it last. */
export async function tellsTheLastChange(page) {
  await until('the change is in the log', async () => {
    const { items } = await answer(page, '/audit/entries?action=policy.change&limit=1');
    return items.length > 0;
  });
  await page.goto('/policy');
  await page.getByText(/^Last changed .+ by admin\./).waitFor();
}
