// MOCK of the coordinator's API for people: `npm run mock`, then `npm run dev` or open the address it
// prints (it serves dist when that is built). Sign in as admin with the password "mock". Only for
// looking at the interface: the true test of it is tests/browser, against a true coordinator.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { searchFor } from './mock-search.mjs';
import { whyOf, worldOf } from './mock-world.mjs';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const port = Number(process.env.MOCK_PORT ?? 8787);
const empty = process.env.MOCK_EMPTY === '1';
const startedAt = new Date().toISOString();
const full = worldOf(Date.now());
const world = empty ? { agents: [], delegations: [], tokens: [], pages: 0 } : full;
let policy = { threshold_ms: 50, patience_s: 600, host_delay_ms: 1000 };

class Refusal extends Error {
  constructor(status, title, detail, errors) {
    super(detail);
    this.body = {
      type: 'urn:nearcrawl:problem:mock',
      title,
      status,
      detail,
      request_id: 'req_00000000mock',
      errors,
    };
  }
}

const countOf = (key, value) => world.agents.filter((agent) => agent[key] === value).length;
const atWork = (there) =>
  world.agents.filter((agent) => agent.state === 'approved' && agent.presence === there).length;
const reasonCount = (reason) => world.delegations.filter((item) => item.reason === reason).length;
const sum = (key) => world.agents.reduce((total, agent) => total + agent[key], 0);

function overview() {
  const names = ['home', 'company', 'threshold', 'lowest'];
  return {
    generation: empty ? null : generation(),
    agents: {
      pending: countOf('state', 'pending'),
      approved: countOf('state', 'approved'),
      paused: countOf('state', 'paused'),
      revoked: countOf('state', 'revoked'),
      awake: atWork('awake'),
      asleep: atWork('asleep'),
      unreachable: atWork('unreachable'),
    },
    delegations: {
      total: world.delegations.length,
      provisional: world.delegations.filter((item) => item.provisional).length,
      by_reason: Object.fromEntries(names.map((name) => [name, reasonCount(name)])),
    },
    searches: { open: empty ? 0 : 3, decided: empty ? 0 : 127 },
    probes: { total: empty ? 0 : 338, per_search_mean: empty ? null : 2.66 },
    hosts: {
      known: empty ? 0 : 312,
      resolved: empty ? 0 : 304,
      delegated: empty ? 0 : 298,
      failed: empty ? 0 : 5,
    },
    urls: { pending: empty ? 0 : 41, routed: empty ? 0 : 1873 },
    packages: {
      received: sum('pages') >> 5,
      integrated: sum('pages') >> 5,
      bytes: sum('bytes_shipped'),
      plain_bytes: sum('bytes_shipped') * 4,
    },
    pages: { integrated: world.pages, indexed: world.pages, bytes_fetched: sum('bytes_fetched') },
    coordinator: { version: '0.1.0', started_at: startedAt, rss_bytes: 184_320_000 },
  };
}

function generation() {
  const files = {
    afrinic: 12_034,
    apnic: 104_411,
    arin: 160_220,
    lacnic: 46_907,
    ripencc: 208_655,
  };
  const sources = Object.entries(files).map(([registry, records]) => ({
    registry,
    file: `delegated-${registry}-extended-20181120`,
    records,
    date: '2018-11-20',
  }));
  return {
    id: 1,
    subnets: 532_240,
    companies: 98_113,
    build_ms: 4310,
    loaded_at: startedAt,
    sources,
  };
}

function part(items, params, key = (item) => item.id) {
  const limit = Number(params.get('limit') ?? 50);
  const cursor = params.get('cursor');
  const start = cursor ? items.findIndex((item) => key(item) === cursor) + 1 : 0;
  const shown = items.slice(start, start + limit);
  const more = start + limit < items.length;
  return { items: shown, next_cursor: more ? key(shown.at(-1)) : null };
}

function wanted(params) {
  const q = (params.get('q') ?? '').toLowerCase();
  return world.delegations.filter((item) => {
    const text = `${item.subnet} ${item.company} ${item.agent.name} ${item.country}`.toLowerCase();
    const agent = params.get('agent') ?? item.agent.id;
    const reason = params.get('reason') ?? item.reason;
    return item.agent.id === agent && item.reason === reason && text.includes(q);
  });
}

function found(items, id) {
  const item = items.find((candidate) => candidate.id === id);
  if (!item) throw new Refusal(404, 'Not Found', `There is no ${id}.`);
  return item;
}

const next = { approve: 'approved', pause: 'paused', resume: 'approved', revoke: 'revoked' };

function act(id, action) {
  const agent = found(world.agents, id);
  agent.state = next[action];
  if (action === 'approve') agent.approved_at = new Date().toISOString();
  tell('agents', { changed: true });
  tell('overview', overview());
  return agent;
}

function locate(address) {
  if (!/^[0-9a-f.:]+$/i.test(address)) {
    throw new Refusal(400, 'Bad Request', `address: “${address}” is not an IPv4 or IPv6 address`);
  }
  return {
    address,
    generation: 1,
    chain: whyOf(world.delegations[3], world.agents, Date.now()).chain,
  };
}

function sow({ urls }) {
  const rejected = urls.filter((url) => !/^https?:\/\//.test(url));
  return {
    accepted: urls.length - rejected.length,
    already_known: 0,
    rejected: rejected.map((url) => ({ url, reason: 'is not an absolute http or https URL' })),
  };
}

function newToken({ name, ttl_s }) {
  const expires_at = new Date(Date.now() + ttl_s * 1000).toISOString();
  world.tokens.unshift({
    id: `tok_${world.tokens.length + 1}`,
    name,
    created_by: 'admin',
    created_at: new Date().toISOString(),
    expires_at,
    used_at: null,
    used_by: null,
  });
  return { token: 'ncj_MOCK_7f3k9x2m5q8w1e4r6t0y', expires_at };
}

const admin = { name: 'admin', role: 'admin' };
const routes = [
  ['GET', /^overview$/, () => overview()],
  ['GET', /^agents$/, ({ params }) => part(world.agents, params)],
  ['GET', /^agents\/([^/]+)$/, ({ match }) => found(world.agents, match[1])],
  [
    'POST',
    /^agents\/([^/]+)\/(approve|pause|resume|revoke)$/,
    ({ match }) => act(match[1], match[2]),
  ],
  ['GET', /^join-tokens$/, ({ params }) => part(world.tokens, params)],
  ['POST', /^join-tokens$/, ({ body }) => newToken(body)],
  ['GET', /^delegations$/, ({ params }) => part(wanted(params), params)],
  [
    'GET',
    /^delegations\/([^/]+)\/why$/,
    ({ match }) => whyOf(found(world.delegations, match[1]), full.agents, Date.now()),
  ],
  ['GET', /^hierarchy\/(.+)$/, ({ match }) => locate(decodeURIComponent(match[1]))],
  ['POST', /^seeds$/, ({ body }) => sow(body)],
  ['GET', /^policy$/, () => policy],
  ['PUT', /^policy$/, ({ body }) => (policy = body)],
];

const watchers = new Set();
function tell(event, data) {
  for (const watcher of watchers)
    watcher.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
setInterval(() => {
  if (watchers.size === 0 || empty) return;
  world.pages += 3;
  tell('overview', overview());
}, 1000).unref();

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  return text === '' ? {} : JSON.parse(text);
}

function sessionCall(request, response, body) {
  const signedIn = request.headers.cookie?.includes('nearcrawl_session=mock');
  if (request.method === 'DELETE') {
    return response.writeHead(204, { 'set-cookie': 'nearcrawl_session=; Path=/; Max-Age=0' }).end();
  }
  if (request.method === 'POST') {
    if (body.password !== 'mock')
      throw new Refusal(401, 'Unauthorized', 'Name or password is wrong.');
    response.setHeader('set-cookie', 'nearcrawl_session=mock; Path=/; HttpOnly; SameSite=Lax');
    return send(response, 200, admin);
  }
  if (!signedIn) throw new Refusal(401, 'Unauthorized', 'Sign in first: POST /api/v1/session.');
  return send(response, 200, admin);
}

function send(response, status, body) {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}

function watch(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  watchers.add(response);
  response.on('close', () => watchers.delete(response));
  response.write(`event: overview\ndata: ${JSON.stringify(overview())}\n\n`);
}

async function api(request, response, url) {
  const path = url.pathname.slice('/api/v1/'.length);
  const body = await bodyOf(request);
  if (path === 'session') return sessionCall(request, response, body);
  if (path === 'search') return search(response, url.searchParams);
  if (!request.headers.cookie?.includes('nearcrawl_session=mock')) {
    throw new Refusal(401, 'Unauthorized', 'Sign in first: POST /api/v1/session.');
  }
  if (path === 'events') return watch(response);
  for (const [method, shape, handler] of routes) {
    const match = shape.exec(path);
    if (method === request.method && match)
      return send(response, 200, handler({ match, body, params: url.searchParams }));
  }
  throw new Refusal(404, 'Not Found', 'There is nothing at this path.');
}

function search(response, params) {
  const query = params.get('q') ?? '';
  if (query.includes('broken'))
    throw new Refusal(
      503,
      'Service Unavailable',
      'The index is being opened; try again in a few seconds.',
    );
  return send(response, 200, searchFor(query, params.get('cursor'), Date.now()));
}

const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

// The coordinator's own policy: what works here works there.
const policyHeader =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

async function file(response, path) {
  const wantedFile = extname(path) === '' ? '/index.html' : path;
  try {
    const content = await readFile(join(dist, normalize(wantedFile)));
    response
      .writeHead(200, {
        'content-type': types[extname(wantedFile)] ?? 'application/octet-stream',
        'content-security-policy': policyHeader,
      })
      .end(content);
  } catch {
    response.writeHead(404).end('not built: npm run build');
  }
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://mock');
  try {
    if (url.pathname.startsWith('/api/')) await api(request, response, url);
    else await file(response, url.pathname);
  } catch (thrown) {
    if (thrown instanceof Refusal) send(response, thrown.body.status, thrown.body);
    else send(response, 500, new Refusal(500, 'Internal Server Error', String(thrown)).body);
  }
});
server.listen(port, '127.0.0.1', () =>
  console.log(`mock listening on http://127.0.0.1:${server.address().port}`),
);
