// The running world that the tests look at, and what they must know about it. See README.md.

function wanted(name, meaning) {
  const value = process.env[name];
  if (value) return value;
  throw new Error(
    `${name} is not set: give ${meaning}, or run \`cargo xtask test\`, which starts a world and says where it is`,
  );
}

/** Where the coordinator listens, e.g. http://127.0.0.1:8080. */
export const url = wanted('NEARCRAWL_URL', "the coordinator's address");

/** The first admin's password. */
export const password = wanted(
  'NEARCRAWL_ADMIN_PASSWORD',
  'the password of the admin called admin',
);

/** Words that at least one indexed page has. */
export const query = process.env.NEARCRAWL_QUERY || 'harbour';

/** The body of one of the coordinator's answers, asked for with the cookies of `page`. */
export async function answer(page, path) {
  const response = await page.request.get(`/api/v1${path}`);
  if (!response.ok())
    throw new Error(`GET /api/v1${path} answered ${response.status()}: ${await response.text()}`);
  return response.json();
}

/** The delegation with the longest trail of probes among the newest 500. */
export async function wellProbed(page) {
  const { items } = await answer(page, '/delegations?limit=500');
  const best = items.toSorted((a, b) => b.probes - a.probes)[0];
  if (!best || best.probes === 0)
    throw new Error('the world has no delegation that came of a probe');
  return best;
}

/** The body of the answer to a change, made with the cookies of `page`. */
export async function post(page, path, data = {}) {
  const headers = { 'sec-fetch-site': 'same-origin' };
  const response = await page.request.post(`/api/v1${path}`, { data, headers });
  if (!response.ok())
    throw new Error(`POST /api/v1${path} answered ${response.status()}: ${await response.text()}`);
  return response.json();
}

/** Waits until something holds; asks again twice a second. */
export async function until(what, holds, patience = 60_000) {
  const end = Date.now() + patience;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
