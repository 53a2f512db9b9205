// Every page in every look, as pictures to look at, with axe's findings and sideways scrolling printed.
//   NEARCRAWL_URL=http://127.0.0.1:8787 NEARCRAWL_ADMIN_PASSWORD=mock NEARCRAWL_SCREENSHOTS=/tmp/look node look.mjs [path...]
import {
  inEachColour,
  launch,
  open,
  overflows,
  settled,
  shoot,
  signIn,
  unlevel,
  violationsIn,
  windows,
} from './chromium.mjs';

const url = process.env.NEARCRAWL_URL ?? 'http://127.0.0.1:8787';
const password = process.env.NEARCRAWL_ADMIN_PASSWORD ?? 'mock';
const usual = [
  '/',
  '/?q=olive+oil',
  '/?q=nothing+lang:el',
  '/?q=broken',
  '/sign-in',
  '/overview',
  '/agents',
  '/agents/agt_1',
  '/regions',
  '/delegations',
  '/delegations?q=zzz',
  '/inspector',
  '/inspector?q=https://www.example.org/page',
  '/hosts',
  '/hosts/hst_60',
  '/errors',
  '/crawler',
  '/host-an-agent',
  '/invitation#secret',
  '/maps',
  '/maps?view=ipv4',
  '/maps?view=round-trips',
  '/maps?view=agents',
  '/constraints',
  '/hidden',
  '/hierarchy?address=60.37.64.20',
  '/hierarchy?address=nowhere',
  '/seeds',
  '/policy',
  '/accounts',
  '/audit',
  '/audit?actor=nobody',
  '/no-such-page',
];
const chosen = process.argv.slice(2);

const browser = await launch();
for (const [size, viewport] of Object.entries(windows)) {
  const visitor = await open(browser, url, { viewport });
  const admin = await open(browser, url, { viewport });
  await signIn(admin, password);
  for (const path of chosen.length > 0 ? chosen : [...usual, await explanationPage(admin)]) {
    const page = path === '/sign-in' ? visitor : admin;
    await page.goto(path);
    await settled(page);
    await inEachColour(page, size, (colour) => look(page, path, size, colour));
    for (const complaint of page.complaints.splice(0))
      console.log(`${size} ${path} ${complaint}`);
  }
}
await browser.close();

/** Takes a picture of the page, and prints what is wrong in it. */
async function look(page, path, size, colour) {
  const name = `${size}-${colour}`;
  await shoot(page, `${nameOf(path)}.${name}`);
  for (const violation of await violationsIn(page, colour))
    console.log(`${name} ${path} ${violation}`);
  const wide = await overflows(page);
  if (wide > 0) console.log(`${name} ${path} is ${wide} px wider than the window`);
  const faults = size === 'desktop' ? await unlevel(page) : [];
  for (const fault of faults) console.log(`${name} ${path} ${fault}`);
}

/** The explanation with the most probes among the newest delegations. */
async function explanationPage(page) {
  const answer = await page.request.get('/api/v1/delegations?limit=50');
  const { items } = await answer.json();
  const best = items.toSorted((a, b) => b.probes - a.probes)[0];
  return best ? `/delegations/${best.id}/explanation` : '/delegations';
}

function nameOf(path) {
  return path === '/'
    ? 'home'
    : path
        .slice(1)
        .replaceAll(/[^a-z0-9]+/gi, '-')
        .replace(/^-/, '');
}
