// MOCK of the coordinator's API for people: `npm run mock`, then `npm run dev` or open the address it
// prints (it serves dist when that is built). Sign in as admin with the password "mock". Only for
// looking at the interface: the true test of it is tests/browser, against a true coordinator.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { enrol, overview, Refusal, routes, listeners, world } from './mock-api.mjs';
import { searchFor } from './mock-search.mjs';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const port = Number(process.env.MOCK_PORT ?? 8787);

const admin = { name: 'admin', role: 'admin' };
const watchers = new Set();
function emit(event, data) {
  for (const watcher of watchers)
    watcher.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
listeners.push(emit);
setInterval(() => {
  if (watchers.size === 0 || world.pages === 0) return;
  world.pages += 3;
  emit('overview', overview());
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
  if (path === 'agent/enrol') return send(response, 200, enrol(body));
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
