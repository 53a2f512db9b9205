// MOCK: invented time series and maps. Nothing here is measured.
import { dice } from './mock-world.mjs';

const steps = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const at = {
  'nicosia-1': [35.17, 33.36],
  'frankfurt-2': [50.11, 8.68],
  'london-1': [51.51, -0.13],
  'new-york-3': [40.71, -74.01],
  'sao-paulo-1': [-23.55, -46.63],
  'tokyo-1': [35.68, 139.69],
  'sydney-1': [-33.87, 151.21],
  'cape-town-1': [-33.92, 18.42],
  'singapore-1': [1.35, 103.82],
  'toronto-1': [43.65, -79.38],
};
const countries = [
  ['US', 40.71, -74.01],
  ['DE', 52.52, 13.41],
  ['JP', 35.68, 139.69],
  ['GB', 51.51, -0.13],
  ['BR', -23.55, -46.63],
  ['FR', 48.85, 2.35],
  ['IN', 19.08, 72.88],
  ['AU', -33.87, 151.21],
  ['CY', 35.17, 33.36],
  ['ZA', -26.2, 28.05],
  ['SG', 1.35, 103.82],
  ['KE', -1.29, 36.82],
];

function bucket(index, count, step, now, isAgent, roll) {
  const wave = 0.6 + 0.4 * Math.sin((index / count) * 9);
  const scale = (steps[step] / 60_000) * (isAgent ? 0.1 : 1);
  const pages = Math.round(wave * (150 + roll() * 60) * scale);
  return {
    start: new Date(
      Math.floor(now / steps[step] - (count - 1 - index)) * steps[step],
    ).toISOString(),
    pages,
    fetches: Math.round(pages * 1.2),
    errors: Math.round(roll() * roll() * 9 * scale),
    fetched_bytes: pages * 27_000,
    shipped_bytes: pages * 1_500,
    probes: Math.round(roll() * 30 * scale),
    searches: Math.round(roll() * 9 * scale),
    queued: Math.round((isAgent ? 400 : 5200) * (1.4 - index / count)),
    round_trip_ms: 12 + 8 * roll(),
  };
}

function series(params) {
  const step = params.get('step') ?? 'minute';
  const count = Number(params.get('buckets') ?? 120);
  const roll = dice(7);
  const of = (_, index) => bucket(index, count, step, Date.now(), params.has('agent'), roll);
  return { step, step_s: steps[step] / 1000, buckets: Array.from({ length: count }, of) };
}

function worldMap(agents) {
  const roll = dice(11);
  return {
    agents: agents
      .filter(({ state }) => state === 'approved')
      .map(({ id, name, city, country }) => ({
        agent: { id, name },
        place: city ?? country,
        is_claimed: city !== null,
        latitude: at[name]?.[0] ?? null,
        longitude: at[name]?.[1] ?? null,
        fetches: Math.round(20_000 * roll()),
        round_trip_ms: 5 + 30 * roll(),
      })),
    countries: countries.map(([country, latitude, longitude], index) => ({
      country,
      latitude,
      longitude,
      hosts: Math.round(90 / (index + 1)),
      fetches: Math.round(9000 / (index + 1)),
      round_trip_ms: 4 + 260 * roll() * roll(),
    })),
  };
}

function roundTripMap(agents) {
  const roll = dice(13);
  const row = ({ id, name }) => ({
    agent: { id, name },
    round_trips_ms: countries.map(() => (roll() < 0.2 ? null : 3 + 280 * roll() * roll())),
  });
  return {
    countries: countries.map(([code]) => code),
    rows: agents.map(row),
    all_countries: countries.length + 20,
    all_agents: agents.length,
  };
}

function homeTimeMap(agents) {
  const roll = dice(17);
  const names = agents.map(({ id, name }) => ({ id, name }));
  const row = (agent) => ({
    agent,
    round_trips_ms: names.map(({ id }) =>
      id === agent.id || roll() < 0.5 ? null : 3 + 280 * roll() * roll(),
    ),
  });
  return { agents: names, rows: names.map(row), all_agents: names.length };
}

function ipv4Map(agents, prefix) {
  const length = Number(prefix.split('/')[1]);
  const roll = dice(17 + length);
  const runs = [];
  for (let first = 60; first < 3500; first += 2 + Math.floor(roll() * 60)) {
    const cells = 1 + Math.floor(roll() * roll() * 12);
    runs.push({ first, cells, agent: Math.floor(roll() * agents.length) });
    first += cells;
  }
  return {
    prefix,
    cell_length: length + 12,
    agents: agents.map(({ id, name }, index) => ({
      agent: { id, name },
      addresses: Math.round(9_000_000 / (index + 1)),
    })),
    runs,
    subnets: runs.length,
    delegations: length < 12 ? [] : [{ subnet: prefix.replace(/\/\d+/, '/24'), agent: 0 }],
  };
}

/** What answers about activity and maps. */
export const activityRoutes = (world, empty) => [
  [
    'GET',
    /^series$/,
    ({ params }) => (empty ? { step: 'minute', step_s: 60, buckets: [] } : series(params)),
  ],
  [
    'GET',
    /^progress$/,
    () => ({
      state: empty ? 'unknown' : 'shrinking',
      fetched: 6150,
      queued: empty ? null : 2080,
      fetches_per_s: empty ? 0 : 3.4,
      queue_growth_per_s: empty ? null : -0.4,
      expected_end: empty ? null : new Date(Date.now() + 5_200_000).toISOString(),
    }),
  ],
  [
    'GET',
    /^locality$/,
    () => ({
      fetches: empty ? 0 : 6150,
      spent_s: empty ? null : 96.4,
      random_s: empty ? null : 812.5,
      agents_without_place: 0,
    }),
  ],
  ['GET', /^maps\/world$/, () => (empty ? { agents: [], countries: [] } : worldMap(world.agents))],
  [
    'GET',
    /^maps\/round-trips$/,
    () =>
      empty
        ? { countries: [], rows: [], all_countries: 0, all_agents: 0 }
        : roundTripMap(world.agents),
  ],
  [
    'GET',
    /^maps\/agents$/,
    () => (empty ? { agents: [], rows: [], all_agents: 0 } : homeTimeMap(world.agents)),
  ],
  [
    'GET',
    /^maps\/ipv4$/,
    ({ params }) => {
      const prefix = params.get('prefix') ?? '0.0.0.0/0';
      if (empty)
        return { prefix, cell_length: 12, agents: [], runs: [], subnets: 0, delegations: [] };
      return ipv4Map(world.agents, prefix);
    },
  ],
];
