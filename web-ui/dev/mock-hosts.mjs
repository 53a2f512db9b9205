// MOCK of hosts, errors and the inspector.

const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const states = ['delegated', 'delegated', 'delegated', 'resolved', 'unresolved', 'failed'];
const kinds = ['timeout', 'client_error', 'dns', 'server_error', 'connection', 'tls'];

function hostsOf({ delegations }) {
  return delegations.slice(0, 60).map((held, index) => {
    const state = states[index % states.length];
    const isPlaced = state === 'delegated';
    const fetches = isPlaced ? 17 * (60 - index) : 0;
    return {
      id: `hst_${60 - index}`,
      name: `${index % 2 ? 'https' : 'http'}://${['www', 'shop', 'archive'][index % 3]}.site-${60 - index}.example`,
      state,
      address: isPlaced ? held.subnet.split('/')[0] : null,
      subnet: isPlaced ? held.subnet : null,
      country: isPlaced ? held.country : null,
      agent: isPlaced ? held.agent : null,
      pages: Math.round(fetches * 0.8),
      fetches,
      errors: isPlaced ? index % 7 : 0,
      disallowed: isPlaced ? index % 4 : 0,
      bytes_fetched: fetches * 31_415,
      mean_ms: isPlaced ? 40 + index * 13 : null,
      fetched_at: isPlaced ? ago(index) : null,
      reason: state === 'failed' ? 'no such name (NXDOMAIN)' : null,
      found_at: ago(600 + index),
    };
  });
}

const errorOf = (host, index, agents) => ({
  host: host.id,
  name: host.name,
  days_ago: index % 3,
  kind: kinds[index % kinds.length],
  errors: 90 - index * 7,
  agent: host.agent ?? { id: agents[0].id, name: agents[0].name },
  url: `${host.name}/a/rather/long/path/of-a-page?number=${index}`,
  detail: index % 2 ? 'HTTP 404' : 'no answer in time',
  at: ago(index * 11),
});

function errors({ agents }, hosts, params) {
  const all = hosts.slice(0, 12).map((host, index) => errorOf(host, index, agents));
  const fits = (each) => !params.get('kind') || each.kind === params.get('kind');
  return {
    days_ago: Number(params.get('days_ago') ?? 0),
    kinds: kinds.map((kind, index) => ({ kind, errors: 300 - index * 45 })),
    agents: agents
      .slice(0, 5)
      .map(({ id, name }, index) => ({ agent: { id, name }, errors: 200 - index * 30 })),
    hosts: all.filter(fits),
  };
}

function details(hosts, agents, id) {
  const host = hosts.find((candidate) => candidate.id === id) ?? hosts[0];
  const outcomes = ['page', 'unchanged', 'redirect', 'disallowed', 'http_error', 'failed'];
  return {
    host,
    found_by: null,
    delegation: 'dlg_7',
    recent: outcomes.map((outcome, index) => ({
      url: `${host.name}/page-${index}`,
      at: ago(index * 3),
      outcome,
      detail: outcome === 'failed' ? 'no connection: Connection refused' : '',
      ms: outcome === 'disallowed' ? null : 120 + index,
      bytes: outcome === 'page' ? 51_000 : 0,
    })),
    errors: [errorOf(host, 0, agents), errorOf(host, 4, agents)],
    // One of them has died.
    answered_at: host.errors === 6 ? ago(60 * 24 * 45) : host.fetched_at,
    unanswered_since: host.errors === 6 ? ago(60 * 24 * 44) : null,
    is_silent: host.errors === 6,
  };
}

const step = (step, state, sentence, rest = {}) => ({
  step,
  state,
  sentence,
  at: ago(7),
  advice: null,
  link: null,
  ...rest,
});

function inspection(q) {
  return {
    kind: 'url',
    subject: q,
    conclusion: 'robots.txt of the site forbids the URL.',
    is_asking: false,
    steps: [
      step('found', 'done', 'The host was first seen as a seed.', { link: '/hosts/hst_60' }),
      step('dns', 'done', 'The name has the address 60.37.64.20.', { at: null }),
      step('subnet', 'done', '60.37.64.20 lies in 60.37.64.0/18 of a company, JP.', { at: null }),
      step('delegation', 'done', '60.37.64.0/18 is delegated to an agent (predicted).'),
      step('agent', 'waiting', 'The agent sleeps until 2026-11-24 18:00 UTC.'),
      step('robots', 'stuck', 'robots.txt of the site forbids the URL.', {
        advice: "Only the site's owner can allow it.",
      }),
      step('queue', 'open', 'The agent cannot be asked now.', { at: null }),
      step('fetch', 'open', 'The URL is not among the last fetches of its host.', { at: null }),
      step('index', 'open', 'The page is not in the index.', { at: null }),
    ],
  };
}

/** Method, shape of the path below /api/v1/, and what answers. */
export function hostRoutes(world) {
  const hosts = hostsOf(world);
  const wanted = (params) =>
    hosts.filter(
      (host) =>
        (!params.get('state') || host.state === params.get('state')) &&
        (!params.get('q') || host.name.includes(params.get('q'))),
    );
  return [
    [
      'GET',
      /^hosts$/,
      ({ params }) => ({ items: wanted(params).slice(0, 50), next_cursor: null, counts: null }),
    ],
    ['GET', /^hosts\/([^/]+)$/, ({ match }) => details(hosts, world.agents, match[1])],
    ['GET', /^errors$/, ({ params }) => errors(world, hosts, params)],
    ['GET', /^explain$/, ({ params }) => inspection(params.get('q'))],
  ];
}
