// Constraints that an admin makes on the page of a delegation, each with a preview. Called by world.test.mjs.
import assert from 'node:assert/strict';
import { seriousViolations, settled, shoot } from './chromium.mjs';
import { answer, wellProbed } from './world.mjs';

/** Opens the page of a well-probed delegation. */
async function delegation(page) {
  const found = await wellProbed(page);
  await page.goto(`/delegations/${found.id}/explanation`);
  await settled(page);
  return found;
}

/** Fills the dialog that `verb` opens, and waits for the preview. */
async function preview(page, verb, why) {
  await page.getByRole('button', { name: verb, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(why);
  await dialog.getByRole('button', { name: 'Preview' }).click();
  const shown = dialog.getByRole('region', { name: 'Preview' });
  await shown.waitFor();
  await shoot(page, `constraints-${verb.toLowerCase()}`);
  assert.deepEqual(await seriousViolations(page), [], `the dialog to ${verb}`);
  return dialog;
}

/** Pins a subnet to the agent that has it, finds the pin in the list, and removes it. */
export async function pinsAndUnpins(page) {
  const { subnet } = await delegation(page);
  const why = `browser test ${Date.now()}`;
  const dialog = await preview(page, 'Pin', why);
  assert.deepEqual(
    (await answer(page, '/pins')).items.filter((pin) => pin.reason === why),
    [],
  );
  await dialog.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByText('The subnet is pinned.').waitFor();

  await page.getByRole('link', { name: 'Constraints and moves' }).click();
  const row = page.getByRole('row').filter({ hasText: why });
  await row.getByText(subnet).waitFor();
  await shoot(page, 'constraints-list');
  const [pinned] = (await answer(page, held(subnet))).items;
  await row.getByRole('button', { name: /^Remove pin_/ }).click();
  await page.getByRole('dialog').getByRole('region', { name: 'Preview' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The pin is removed.').waitFor();
  await row.waitFor({ state: 'detached' });
  // The search is reopened, so the pinned delegation ends.
  await page.goto(`/delegations/${pinned.id}/explanation`);
  await page.getByText('This delegation has ended').waitFor();
}

const held = (subnet) => `/delegations?q=${encodeURIComponent(subnet)}`;

/** Looks at what an override and an exclusion would do, and leaves everything as it is. */
export async function looksAndLeaves(page) {
  const { id, subnet } = await delegation(page);
  for (const verb of ['Override', 'Exclude']) {
    const dialog = await preview(page, verb, 'only looking');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
  }
  assert.equal((await answer(page, held(subnet))).items[0].id, id);
  assert.equal((await answer(page, `/delegations/${id}`)).ended_at, null);
  const exclusions = (await answer(page, '/exclusions')).items;
  assert.deepEqual(
    exclusions.filter((item) => item.reason === 'only looking'),
    [],
  );
}
