// How a partner joins: the public form, an admin's acceptance, and the one-time link.
import assert from "node:assert/strict";
import { open, overflows, seriousViolations, settled } from "./chromium.mjs";
import { enrol } from "./newcomer.mjs";
import { answer } from "./world.mjs";

/** A stranger asks, an admin accepts, the link works once, and the admin sees the fingerprint. */
export async function joinsByTheForm(browser, page, url) {
  const name = `Partner ${Date.now()}`;
  const stranger = await open(browser, url);
  await asks(stranger, name);

  await page.goto("/agents");
  await page.getByRole("button", { name: `Accept ${name}` }).click();
  const question = page.getByRole("dialog", {
    name: `Accept the request of ${name}?`,
  });
  await question.getByRole("button", { name: "Accept" }).click();
  const dialog = page.getByRole("dialog", { name: `Link for ${name}` });
  const link = await dialog.locator("pre.once").innerText();
  assert.equal(
    (
      await page.evaluate(() =>
        fetch("/api/v1/join-requests").then((a) => a.text()),
      )
    ).includes(link),
    false,
  );
  await dialog.getByRole("button", { name: "I have copied it" }).click();

  const token = await opens(stranger, link);
  const id = await enrol(url, token, name);
  const agent = await answer(page, `/agents/${id}`);
  await page.goto(`/agents/${id}`);
  await page.getByText(agent.key_fingerprint, { exact: true }).waitFor();
  assert.equal(agent.join_token, name);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: "Revoke" })
    .click();
  await page.getByText(`${name} is revoked.`).waitFor();
  assert.deepEqual(stranger.complaints, []);
  await stranger.context().close();
}

async function asks(stranger, name) {
  await stranger.goto("/");
  await stranger.getByRole("link", { name: "Host an agent" }).click();
  await stranger.getByRole("link", { name: "The partner’s guide" }).click();
  await stranger.getByText("# Partner's guide").waitFor();
  await stranger.goBack();
  await stranger.getByLabel("Name").fill(name);
  await stranger.getByLabel("Contact").fill("nobody");
  await stranger.getByRole("button", { name: "Send request" }).click();
  const refusal = stranger
    .getByRole("alert")
    .filter({ hasText: "Your request was not sent" });
  await refusal.waitFor();
  await stranger
    .locator(".field .wrong", { hasText: "give a mail address" })
    .waitFor();
  await stranger.getByLabel("Contact").fill("crawler@example.edu");
  await stranger.getByLabel("Other hours").check();
  await stranger
    .getByLabel("Other hours, one span a line")
    .fill("daily 20:00-07:00");
  await stranger.getByRole("button", { name: "Send request" }).click();
  await stranger.getByText("Your request has arrived").waitFor();
}

/** Opens the link and returns the join token. In a second browser it is refused, and a reload shows it again. */
async function opens(stranger, link) {
  await stranger.goto(link);
  await stranger.getByRole("button", { name: "Show the commands" }).click();
  const commands = stranger.getByLabel("Commands on the machine");
  await commands.waitFor();
  const token = /NEARCRAWL_JOIN_TOKEN=(nc-\S+)/.exec(
    await commands.innerText(),
  )?.[1];
  assert.ok(token, "the commands have no token");
  await stranger
    .getByLabel("As a user: one directory, without special rights")
    .check();
  assert.match(await commands.innerText(), /--join-token-file join-token$/);
  assert.deepEqual(await seriousViolations(stranger), []);
  assert.ok((await overflows(stranger)) <= 0);
  await stranger.reload();
  await settled(stranger);
  await commands.waitFor();

  const other = await stranger.context().browser().newPage();
  await other.goto(link);
  await other.getByRole("button", { name: "Show the commands" }).click();
  await other.getByText("The link could not be used").waitFor();
  await other.close();
  return token;
}

/** A token of a script is made, works, and is revoked. */
export async function makesApiTokens(page, url) {
  const name = `script ${Date.now()}`;
  await page.goto("/accounts");
  await page.getByRole("button", { name: "New API token" }).click();
  await page.getByLabel("What is it for?").fill(name);
  await page.getByRole("button", { name: "Make token" }).click();
  const dialog = page.getByRole("dialog", { name: `API token for ${name}` });
  const token = await dialog.locator("pre.once").innerText();
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  const asks = () =>
    fetch(new URL("/api/v1/agents", url), {
      headers: { authorization: `Bearer ${token}` },
    });
  assert.equal((await asks()).status, 200);
  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  const question = page.getByRole("dialog", { name: `Revoke ${name}?` });
  await question.getByRole("button", { name: "Revoke" }).click();
  await page.getByText(`${name} is revoked.`).waitFor();
  assert.equal((await asks()).status, 401);
}
