// One Chromium for the tests: Debian's own, driven by playwright-core, nothing downloaded.
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Starts the browser. `--no-sandbox` only where Chromium asks for it: as root. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

/** The sizes of windows in which every page must hold. */
export const windows = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
  narrow: { width: 320, height: 700 },
};
const colours = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  forced: { colorScheme: 'light', forcedColors: 'active' },
};

/** Checks a page as it stands in the colours in which it must hold in a window of this size. The other sizes have the
 * layout of one of these two, so that colours add nothing to them. */
export async function inEachColour(page, size, check) {
  const { light } = colours;
  const shown = size === 'desktop' || size === 'phone' ? colours : { light };
  for (const [colour, media] of Object.entries(shown)) {
    await page.emulateMedia(media);
    await redraw(page);
    await check(colour);
  }
}

/** A page of its own, with its own cookies. Errors of the page and refused contents are collected in `page.complaints`. */
export async function open(browser, url, { viewport = windows.desktop, storageState } = {}) {
  const context = await browser.newContext({
    baseURL: url,
    viewport,
    storageState,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (error) => page.complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    // A refused call is answered by the interface itself; everything else on the console is a fault.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      page.complaints.push(text);
  });
  return page;
}

/** Draws the page anew from nothing, so that no element keeps a colour or is still on the way from one to another. */
async function redraw(page) {
  await page.evaluate(async () => {
    const { style } = document.documentElement;
    style.display = 'none';
    document.documentElement.getBoundingClientRect();
    style.removeProperty('display');
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  });
}

/** Signs in through the form. */
export async function signIn(page, password, name = 'admin') {
  await page.goto('/sign-in');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/overview');
}

/** Waits until nothing on the page says that it is still loading. */
export async function settled(page) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('.loading'));
  await page.evaluate(() => document.fonts.ready);
}

/** Rules of axe whose findings depend on colours. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** axe's serious and critical findings on the page as it stands in this colour, one line each. What does not depend on
 * colours is checked in the first one. */
export async function violationsIn(page, colour) {
  return seriousViolations(page, colour === 'light' ? undefined : colourRules);
}

/** axe's serious and critical findings on the page as it stands, one line each. All its rules are checked, or the given
 * ones. */
export async function seriousViolations(page, rules) {
  if (!(await page.evaluate(() => 'axe' in globalThis)))
    await page.evaluate(await readFile(axeFile, 'utf8'));
  const options = rules ? { runOnly: rules } : {};
  const { violations } = await page.evaluate(
    (options) => globalThis.axe.run(document, options),
    options,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html}`));
}

/** Whether the page is wider than its window: it never may be. */
export function overflows(page) {
  return page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
}

/** Tables of panels whose rows do not begin below the heading of their panel, and checkboxes that do not stand beside the
 * name of their row, in words. */
export function misalignments(page) {
  return page.evaluate(() => {
    const found = [];
    const begin = (element) =>
      element.getBoundingClientRect().left + parseFloat(getComputedStyle(element).paddingLeft);
    for (const table of document.querySelectorAll('.panel .table')) {
      const heading = table.closest('.panel').querySelector('h2');
      const cell = table.querySelector('tbody th');
      if (!heading || !cell || !cell.checkVisibility()) continue;
      const off = begin(cell) - begin(heading);
      if (Math.abs(off) > 1) found.push(`a row is ${off} px from "${heading.innerText}"`);
    }
    for (const box of document.querySelectorAll('tbody .select')) {
      const name = box.nextElementSibling.querySelector('a').getBoundingClientRect();
      const { top, bottom } = box.firstElementChild.getBoundingClientRect();
      if (bottom < name.top || top > name.bottom) found.push(`a checkbox is above a row's name`);
    }
    return found;
  });
}

/** Figures and drawings of charts that stand lower or higher than others of their line, in words. */
export function unlevel(page) {
  return page.evaluate(() => {
    const found = [];
    const lines = new Map();
    for (const part of document.querySelectorAll('.figures .value, .charts .drawn')) {
      const { top } = part.getBoundingClientRect();
      const whole = part.closest('.figure, figure');
      const line = whole.getBoundingClientRect().top;
      const first = lines.get(line) ?? top;
      lines.set(line, first);
      if (Math.abs(top - first) > 1)
        found.push(`"${whole.innerText}" is ${top - first} px lower than its line`);
    }
    return found;
  });
}

/** Takes a screenshot into the folder given by NEARCRAWL_SCREENSHOTS; without one, none. The whole page, or what is
 * seen while a dialog is open. */
export async function shoot(page, name) {
  const folder = process.env.NEARCRAWL_SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  const asking = await page.locator('dialog[open]').count();
  await page.screenshot({
    path: join(folder, `${name}.png`),
    fullPage: asking === 0,
  });
}
