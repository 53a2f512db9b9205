// MOCK: invented data for looking at the interface without a coordinator. Nothing here is measured.
// The numbers come from a small seeded generator, so that every start shows the same world.

/** mulberry32: enough randomness for a stage set. */
export function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const minute = 60_000;
const ago = (now, ms) => new Date(now - ms).toISOString();

const sites = [
  ['nicosia-1', 'Nicosia', 'CY', 'ripencc', '82.102.76.14', 'University of Cyprus'],
  ['frankfurt-2', 'Frankfurt', 'DE', 'ripencc', '141.2.22.8', 'Goethe University Frankfurt'],
  ['london-1', 'London', 'GB', 'ripencc', '128.40.163.20', 'University College London'],
  ['new-york-3', 'New York', 'US', 'arin', '128.122.49.3', 'New York University'],
  ['sao-paulo-1', 'São Paulo', 'BR', 'lacnic', '143.107.45.9', 'Universidade de São Paulo'],
  ['tokyo-1', 'Tokyo', 'JP', 'apnic', '133.11.93.5', 'University of Tokyo'],
  ['sydney-1', 'Sydney', 'AU', 'apnic', '129.78.5.11', 'University of Sydney'],
  ['cape-town-1', 'Cape Town', 'ZA', 'afrinic', '137.158.154.7', 'University of Cape Town'],
  ['singapore-1', 'Singapore', 'SG', 'apnic', '137.132.84.1', 'National University of Singapore'],
  ['toronto-1', 'Toronto', 'CA', 'arin', '128.100.31.2', 'University of Toronto'],
  ['nairobi-1', 'Nairobi', 'KE', 'afrinic', '197.136.17.4', 'University of Nairobi'],
  ['warsaw-1', 'Warsaw', 'PL', 'ripencc', '193.0.96.15', null],
];

const standing = { 'warsaw-1': 'pending', 'nairobi-1': 'pending', 'toronto-1': 'paused' };
const presence = { 'sydney-1': 'asleep', 'cape-town-1': 'unreachable', 'warsaw-1': 'awake' };

function agentOf([name, city, country, registry, home, company], index, now, roll) {
  const state = standing[name] ?? 'approved';
  const work = state === 'pending' ? 0 : 1;
  const pages = work * Math.floor(200 + roll() * 900);
  const there = presence[name] ?? 'awake';
  return {
    id: `agt_${index + 1}`,
    name,
    state,
    presence: there,
    home,
    source: index === 1 ? '198.51.100.4' : null,
    source_since: index === 1 ? ago(now, 300 * minute) : null,
    city: index % 3 === 2 ? null : city,
    latitude: index % 3 === 2 ? null : 35.17 + index,
    longitude: index % 3 === 2 ? null : 33.36 - 10 * index,
    registry,
    country,
    company,
    key_fingerprint: 'mzxw6ytboi4dk5tfojqwyy3pnq',
    join_token: company,
    leaving_at: null,
    left_at: null,
    pages_removed_at: null,
    contact: `https://www.${name}.example/crawler`,
    version: '0.1.0',
    capacity_pages_per_day: 50_000,
    spans: index % 2 === 0 ? [] : ['mon-fri 22:00-06:00', 'sat-sun 00:00-24:00'],
    zone: 'Europe/Nicosia',
    enrolled_at: ago(now, (3000 - index * 40) * minute),
    approved_at: work ? ago(now, (2900 - index * 40) * minute) : null,
    last_heartbeat_at: there === 'unreachable' ? ago(now, 95 * minute) : ago(now, roll() * 40_000),
    clock_off_s: index === 2 ? -7_800 : null,
    asleep_until: there === 'asleep' ? new Date(now + 400 * minute).toISOString() : null,
    delegations: 0,
    hosts: work * Math.floor(roll() * 40),
    pages,
    bytes_fetched: pages * 21_000,
    bytes_shipped: pages * 1_150,
    drain: null,
    reports: {
      level: 'trusted',
      homes_judged: 96,
      homes_contradicted: 2,
      wins_judged: 11,
      wins_contradicted: 1,
      paused_at: null,
      finding: null,
      contradictions: [],
    },
    reason: there === 'unreachable' ? 'has not beaten for 95 min' : null,
  };
}

const holders = [
  ['93e6ab69-9830-4943-919f-2dc59e09500e', 'GR', 'ripencc'],
  ['Deutsche Beispiel Telekom AG', 'DE', 'ripencc'],
  ['Kaisha Example KK', 'JP', 'apnic'],
  ['Ejemplo de Telecomunicaciones S.A. de C.V.', 'MX', 'lacnic'],
  ['Example Carrier of Kenya Limited', 'KE', 'afrinic'],
  ['Sample Networks LLC', 'US', 'arin'],
  [null, 'IS', 'ripencc'],
  ['Réseau Exemple', 'FR', 'ripencc'],
];
const reasons = ['predicted', 'predicted', 'threshold', 'company', 'lowest'];

function subnetOf(index) {
  if (index % 11 === 5) return `2001:${(0x600 + index * 7).toString(16)}::/32`;
  if (index % 9 === 4)
    return `${60 + (index % 120)}.${index % 250}.0.0 - ${60 + (index % 120)}.${index % 250}.47.255`;
  return `${60 + (index % 120)}.${(index * 37) % 250}.${(index % 4) * 64}.0/18`;
}

function delegationOf(index, agents, now, roll) {
  const [company, country, registry] = holders[index % holders.length];
  const home = index < agents.length;
  const agent = home ? agents[index] : agents[Math.floor(roll() * agents.length)];
  const reason = home ? 'home' : reasons[index % reasons.length];
  const slow = reason === 'lowest';
  agent.delegations += 1;
  return {
    id: `dlg_${index + 1}`,
    subnet: subnetOf(index),
    agent: { id: agent.id, name: agent.name },
    company: home ? agent.company : company,
    country: home ? agent.country : country,
    registry: home ? agent.registry : registry,
    reason,
    provisional: index % 17 === 8 && !home,
    fencing_number: index % 13 === 0 ? 2 : 1,
    threshold_ms: 50,
    rtt_ms: home ? null : slow ? 55 + roll() * 140 : 1.2 + roll() * 46,
    probes: home ? 0 : slow ? 6 + (index % 5) : 1 + (index % 4),
    decided_at: ago(now, (140 - index) * 2 * minute),
    ended_at: null,
    hosts: Math.floor(roll() * 9),
  };
}

const errors = ['no echo came back within 3 s', null];

function probeOf(order, last, delegation, agents, now, roll) {
  const chosen = order === last;
  const agent = chosen ? delegation.agent : agents[order % agents.length];
  const lost = !chosen && order === 3;
  const rtt = chosen
    ? delegation.rtt_ms
    : lost
      ? null
      : Math.max(delegation.rtt_ms + 4, 52 + roll() * 190);
  const phase =
    order === 1 ? 'company' : order < 4 ? 'sibling' : order < 6 ? 'sibling_child' : 'sibling';
  return {
    id: `prb_${order}`,
    order,
    agent: { id: agent.id, name: agent.name },
    phase,
    level: order === 1 ? null : order < 6 ? '60.0.0.0/8' : '0.0.0.0/0',
    method: lost ? null : ['icmp', 'icmp', 'tcp', 'head'][order % 4],
    rtt_ms: rtt,
    samples: lost ? null : 3,
    threshold_ms: 50,
    expected_ms: null,
    deviation_ms: null,
    probability: null,
    verdict: lost ? 'unreachable' : rtt <= 50 ? 'satisfies' : 'too_slow',
    chosen,
    asked_at: ago(now, (60 - order) * minute),
    answered_at: ago(now, (60 - order) * minute - 900),
    error: lost ? errors[0] : null,
  };
}

function summaryOf(delegation) {
  const { agent, subnet, reason, rtt_ms: rtt, probes } = delegation;
  const time = rtt?.toFixed(1);
  if (reason === 'home') return `${subnet} is the home of ${agent.name}, so no probe was needed.`;
  if (reason === 'company')
    return `${agent.name} already crawls another subnet of the same company and answered in ${time} ms, under the threshold of 50 ms.`;
  if (reason === 'lowest')
    return `No agent was under the threshold of 50 ms. Of ${probes} agents asked, ${agent.name} was the nearest with ${time} ms.`;
  if (reason === 'predicted')
    return `${agent.name} answered in ${time} ms, and no other agent is likely enough to be nearer.`;
  return `${agent.name} crawls a neighbouring subnet and answered in ${time} ms, under the threshold of 50 ms, so the search stopped.`;
}

export function explanationOf(delegation, agents, now) {
  const roll = dice(delegation.probes + 7);
  const home = delegation.reason === 'home';
  const link = (subnet, kind, more = {}) => ({
    subnet,
    kind,
    company: null,
    country: null,
    registry: null,
    delegated_to: null,
    ...more,
  });
  const { subnet, company, country, registry, agent } = delegation;
  const order = Array.from({ length: delegation.probes }, (_, index) => index + 1);
  return {
    delegation,
    target: { address: home ? null : '60.37.64.20', host: home ? null : 'www.shop-17.example' },
    chain: [
      link('0.0.0.0/0', 'root'),
      link('60.0.0.0/8', 'block', { registry }),
      link('60.32.0.0/12', 'delegated', {
        registry,
        company: 'Example Carrier',
        country,
        delegated_to: { id: agents[1].id, name: agents[1].name },
      }),
      link(subnet, 'delegated', { company, country, registry, delegated_to: agent }),
    ],
    threshold_ms: home ? null : 50,
    strategy: home ? null : 'threshold',
    open: delegation.provisional,
    opened_at: home ? null : ago(Date.parse(delegation.decided_at), 3_240),
    decided_at: delegation.decided_at,
    finding: null,
    took_ms: home ? null : 3_240,
    skipped: home ? [] : [{ agent: { id: agents[6].id, name: agents[6].name }, reason: 'asleep' }],
    trail: order.map((place) => probeOf(place, order.length, delegation, agents, now, roll)),
    summary: summaryOf(delegation),
  };
}

export function worldOf(now) {
  const roll = dice(2018);
  const agents = sites.map((site, index) => agentOf(site, index, now, roll));
  const working = agents.filter((agent) => agent.state !== 'pending');
  const delegations = Array.from({ length: 137 }, (_, index) =>
    delegationOf(index, working, now, roll),
  );
  return { agents, delegations: delegations.reverse(), tokens: tokensOf(agents, now), pages: 5120 };
}

function tokensOf(agents, now) {
  const token = (number, name, made, left, by) => ({
    id: `tok_${number}`,
    name,
    created_by: 'admin',
    created_at: ago(now, made * minute),
    expires_at: ago(now, -left * minute),
    used_at: by ? ago(now, (made - 6) * minute) : null,
    used_by: by ? { id: by.id, name: by.name } : null,
    revoked_at: null,
    revoked_by: null,
  });
  return [
    token(4, 'University of Nairobi, library', 50, 1390),
    token(3, 'Warsaw, second machine', 190, 1250, agents[11]),
    token(2, 'Lisbon', 4000, -2560),
    token(1, 'Nicosia', 5000, -3560, agents[0]),
  ];
}
