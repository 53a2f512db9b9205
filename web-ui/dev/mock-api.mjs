// MOCK of what the coordinator answers to admins, over the invented world of mock-world.mjs.
import { activityRoutes } from './mock-activity.mjs';
import { accountRoutes } from './mock-accounts.mjs';
import { agentList, drain, measuredAgents, successors } from './mock-acting.mjs';
import { joiningRoutes } from './mock-joining.mjs';
import { steeringRoutes } from './mock-constraints.mjs';
import { hiddenRoutes } from './mock-hidden.mjs';
import { hostRoutes } from './mock-hosts.mjs';
import { incidentRoutes } from './mock-incidents.mjs';
import { regionRoutes } from './mock-regions.mjs';
import { explanationOf, worldOf } from './mock-world.mjs';

const empty = process.env.MOCK_EMPTY === '1';
const startedAt = new Date().toISOString();
const full = worldOf(Date.now());
export const world = empty ? { agents: [], delegations: [], tokens: [], pages: 0 } : full;
const presets = {
  default: {
    strategy: 'predictive',
    threshold_ms: 50,
    balance_rule: 'cheapest',
    balance_pass: 'optimal',
  },
  paper: {
    strategy: 'threshold',
    threshold_ms: 50,
    balance_rule: 'variance',
    balance_pass: 'off',
  },
};
let policy = {
  preset: 'default',
  strategy: 'predictive',
  threshold_ms: 50,
  patience_s: 600,
  parallel_probes: 1,
  samples_per_probe: 3,
  probes_per_agent: 20_000,
  probes_per_target: 50,
  probes_total: 1_000_000,
  control_permille: 10,
  host_delay_ms: 1000,
  pages_per_host: 10_000,
  link_depth: 25,
  revisit_s: 604_800,
  revisit_least_s: 86_400,
  slowdown_percent: 200,
  slowdown_repeats: 3,
  incident_cooldown_s: 86_400,
  incident_window_s: 3600,
  balance_rule: 'cheapest',
  balance_pass: 'optimal',
  balance_moves_per_day: 100,
  balance_least_gain_ms: 1000,
  discovered_urls_per_agent: 1_000_000,
  discovered_hosts_per_agent: 50_000,
  discovered_urls_per_host: 20_000,
};

function changePolicy(change) {
  policy = { ...policy, ...presets[change.preset], ...change };
  const names = Object.keys(presets);
  const matches = (name) =>
    Object.entries(presets[name]).every(([key, value]) => policy[key] === value);
  policy.preset = names.find(matches) ?? null;
  return policy;
}

/** Somebody wants to know that something changed: called with the event's name and data. */
export const listeners = [];
const emit = (event, data) => listeners.forEach((listener) => listener(event, data));

export class Refusal extends Error {
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

export function overview() {
  const names = [
    'home',
    'company',
    'threshold',
    'lowest',
    'predicted',
    'pinned',
    'override',
    'balanced',
    'drained',
  ];
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
    delegation_searches: { open: empty ? 0 : 3, decided: empty ? 0 : 127 },
    probes: { total: empty ? 0 : 338, homes: empty ? 0 : 48, per_search_mean: empty ? null : 2.66 },
    hosts: {
      known: empty ? 0 : 312,
      resolved: empty ? 0 : 304,
      delegated: empty ? 0 : 298,
      failed: empty ? 0 : 5,
    },
    urls: { pending: empty ? 0 : 41, routed: empty ? 0 : 1873 },
    packages: {
      received: sum('pages') >> 5,
      ingested: sum('pages') >> 5,
      bytes: sum('bytes_shipped'),
      plain_bytes: sum('bytes_shipped') * 4,
    },
    pages: { ingested: world.pages, indexed: world.pages, bytes_fetched: sum('bytes_fetched') },
    coordinator: { version: '0.1.0', started_at: startedAt, rss_bytes: 184_320_000 },
  };
}

function tasks() {
  const outcome = {
    resolve_hosts: 'resolved 4 hosts',
    place_hosts: 'opened 2 searches',
    route_urls: 'routed 31 URLs',
    ingest_packages: 'ingested 1 package',
    expire_probes: null,
  };
  return Object.entries(outcome).map(([name, last_outcome], index) => ({
    name,
    runs: 400 + index * 37,
    consecutive_failures: index === 2 ? 3 : 0,
    last_outcome,
    last_error: index === 2 ? 'cannot see which agents take routes: deadlock detected' : null,
    last_run_at: new Date(Date.now() - index * 900).toISOString(),
  }));
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
  if (action === 'remove-pages') agent.pages_removed_at = new Date().toISOString();
  else agent.state = next[action];
  if (action === 'approve') agent.approved_at = new Date().toISOString();
  emit('agents', { changed: true });
  emit('overview', overview());
  return agent;
}

function locate(address) {
  if (!/^[0-9a-f.:]+$/i.test(address)) {
    throw new Refusal(400, 'Bad Request', `address: “${address}” is not an IPv4 or IPv6 address`);
  }
  return {
    address,
    generation: 1,
    chain: explanationOf(world.delegations[3], world.agents, Date.now()).chain,
  };
}

function add_seeds({ urls }) {
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
    revoked_at: null,
    revoked_by: null,
  });
  return { token: 'ncj_MOCK_7f3k9x2m5q8w1e4r6t0y', expires_at };
}

/** An agent enrols; whoever brings a token is let in to wait. */
export function enrol({ profile }) {
  const id = `agt_${world.agents.length + 1}`;
  const usual = { ...full.agents[11], delegations: 0, presence: 'never', last_heartbeat_at: null };
  world.agents.push({ ...usual, ...profile, id, enrolled_at: new Date().toISOString() });
  emit('agents', { changed: true });
  emit('overview', overview());
  return { agent: id, state: 'pending', coordinator_time: Date.now() };
}

/** Method, shape of the path below /api/v1/, and what answers. */
export const routes = [
  ...steeringRoutes(world),
  ...accountRoutes,
  ...joiningRoutes,
  ...hostRoutes(world),
  ...incidentRoutes(world),
  ...activityRoutes(world, empty),
  ...regionRoutes(world),
  ['GET', /^overview$/, () => overview()],
  ['GET', /^tasks$/, () => ({ leader: true, items: tasks() })],
  ['GET', /^agents$/, ({ params }) => agentList(world.agents, params, part)],
  ['GET', /^agents\/([^/]+)$/, ({ match }) => found(world.agents, match[1])],
  [
    'POST',
    /^agents\/([^/]+)\/(approve|pause|resume|revoke|remove-pages)$/,
    ({ match }) => act(match[1], match[2]),
  ],
  ['GET', /^join-tokens$/, ({ params }) => part(world.tokens, params)],
  ['POST', /^join-tokens$/, ({ body }) => newToken(body)],
  [
    'POST',
    /^agents\/([^/]+)\/drain$/,
    ({ match, body }) => drain(found(world.agents, match[1]), body.deadline_after_s),
  ],
  [
    'DELETE',
    /^agents\/([^/]+)\/drain$/,
    ({ match }) => Object.assign(found(world.agents, match[1]), { drain: null }),
  ],
  [
    'GET',
    /^agents\/([^/]+)\/takeover$/,
    ({ match }) => successors(found(world.agents, match[1]), world.agents, world.delegations),
  ],
  ['GET', /^measured-agents$/, () => measuredAgents(world.agents)],
  ['GET', /^delegations$/, ({ params }) => ({ ...part(wanted(params), params), counts: null })],
  ['GET', /^delegations\/([^/]+)$/, ({ match }) => found(world.delegations, match[1])],
  [
    'GET',
    /^delegations\/([^/]+)\/explanation$/,
    ({ match }) => explanationOf(found(world.delegations, match[1]), full.agents, Date.now()),
  ],
  ['GET', /^hierarchy\/(.+)$/, ({ match }) => locate(decodeURIComponent(match[1]))],
  ['POST', /^registry-data\/refresh$/, () => ({ status: 202 })],
  ['POST', /^seeds$/, ({ body }) => add_seeds(body)],
  ...hiddenRoutes,
  ['GET', /^policy$/, () => policy],
  ['GET', /^policy\/defaults$/, () => policy],
  ['PUT', /^policy$/, ({ body }) => changePolicy(body)],
];
