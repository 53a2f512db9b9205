// What people ask of a crawl and what admins do to it, in a real browser against a real coordinator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actsOnSeveralAgents,
  commands,
  drainsAndEnds,
  pinsARange,
  sortsAndCounts,
  tellsTheLastChange,
  warnsBeforeLeaving,
} from './acting.mjs';
import {
  findsCrawledPages,
  findsFailedLookups,
  findsForbiddenUrls,
  findsMostErrors,
  findsSleepingAgents,
  listsChangesOfADay,
  listsSlowestHosts,
} from './questions.mjs';
import { page } from './signed_in.mjs';
import { answer, url } from './world.mjs';

test('a URL that robots rules forbid is explained', () => findsForbiddenUrls(page));

test('a host that DNS does not know is explained', () => findsFailedLookups(page));

test('a URL whose agent sleeps is explained', () => findsSleepingAgents(page, url));

test('a page that was crawled is explained', () => findsCrawledPages(page));

test('the slowest hosts are one command away', () => listsSlowestHosts(page));

test('the agent with most errors is one command away', () => findsMostErrors(page));

test('the changes of a day are listed, by the keyboard alone', () => listsChangesOfADay(page));

test('several agents are approved and paused together', () => actsOnSeveralAgents(page, url));

test('an agent is drained and taken back', () => drainsAndEnds(page, url));

test('a typed range is pinned to a measured agent', () => pinsARange(page));

test('lists are sorted and counted', () => sortsAndCounts(page));

test('the palette goes to pages', () => commands(page));

test('edits of the policy are not lost', () => warnsBeforeLeaving(page));

test('the policy is changed and changed back', async () => {
  const before = await answer(page, '/policy');
  await page.goto('/policy');
  const probes = page.getByLabel('Probes per day and subnet');
  for (const value of [before.probes_per_target + 1, before.probes_per_target]) {
    await probes.fill(String(value));
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
    await page.getByRole('button', { name: 'Save' }).click();
    assert.equal((await saved).status(), 200);
    await page.getByText('The policy is saved.').last().waitFor();
    assert.equal((await answer(page, '/policy')).probes_per_target, value);
  }
  await tellsTheLastChange(page);
});
