// Accounts and the audit log, as an admin and as a viewer see them.
import assert from 'node:assert/strict';
import { open, signIn } from './chromium.mjs';
import { answer } from './world.mjs';

const first = 'four random words here';
const second = 'and four other words';

/** An admin creates a viewer, who looks, changes the own password, and is removed. */
export async function createsAndRemoves(browser, page, url) {
  const name = `viewer ${Date.now()}`;
  await page.goto('/accounts');
  await page.getByRole('button', { name: 'New account' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('First password').fill(first);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText(`${name} can sign in now.`).waitFor();
  await page.getByRole('rowheader', { name }).waitFor();

  await viewerLooks(browser, url, name);

  await page.getByRole('button', { name: `Remove ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText(`${name} is removed.`).waitFor();
  await page.getByRole('rowheader', { name }).waitFor({ state: 'detached' });
  await auditKnows(page, name);
}

async function viewerLooks(browser, url, name) {
  const viewer = await open(browser, url);
  await signIn(viewer, first, name);
  await viewer.goto('/accounts');
  await viewer.getByRole('rowheader', { name }).waitFor();
  assert.equal(await viewer.getByRole('button', { name: 'New account' }).count(), 0);
  assert.equal(await viewer.getByRole('button', { name: /^Remove/ }).count(), 0);

  await viewer.getByRole('button', { name: 'Change my password' }).click();
  await viewer.getByLabel('Present password').fill('not the password');
  await viewer.getByLabel('New password').fill(second);
  await viewer.getByRole('button', { name: 'Set password' }).click();
  const refusal = viewer.getByRole('alert').filter({ hasText: 'The password was not changed' });
  await refusal.waitFor();
  await viewer.getByLabel('Present password').fill(first);
  await viewer.getByRole('button', { name: 'Set password' }).click();
  await viewer.getByText('The password is changed.').waitFor();
  assert.deepEqual(viewer.complaints, []);
  await viewer.context().close();
}

/** The entries are found by action, and the page shows what the API has. */
async function auditKnows(page, name) {
  await page.goto('/audit');
  await page.getByLabel('Action').fill('account');
  await page.getByLabel('Action').press('Enter');
  await page.waitForURL('**/audit?action=account');
  const { items } = await answer(page, '/audit/entries?action=account&limit=3');
  assert.deepEqual(
    items.map((entry) => entry.action),
    ['account.remove', 'account.password', 'account.create'],
  );
  assert.equal(items[0].detail.name, name);
  assert.equal(items[1].actor, name);
  await page.getByRole('cell', { name: 'account.remove' }).first().waitFor();
}
