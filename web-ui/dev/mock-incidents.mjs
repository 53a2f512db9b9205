// MOCK of incidents of calibration, over the invented world of mock-world.mjs.
const ago = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();
const ref = ({ id, name }) => ({ id, name });

function incidents([a, b, c]) {
  const usual = {
    agent: ref(a),
    url: null,
    control_agent: ref(c),
    control_before_ms: 30,
    control_now_ms: 31.2,
    next_agent: null,
    moved_at: null,
    returned_at: null,
    closed_at: null,
  };
  return [
    {
      ...usual,
      id: 3,
      subnet: '60.37.64.0/19',
      slowdown_ratio: 2.1,
      state: 'checking',
      control_agent: null,
      control_before_ms: null,
      control_now_ms: null,
      opened_at: ago(1),
      summary: `Round trips of ${a.name} took 2.1 times as long as usual. A control probe is looking for the cause.`,
    },
    {
      ...usual,
      id: 2,
      subnet: '82.102.64.0/18',
      slowdown_ratio: 3.42,
      state: 'away',
      next_agent: ref(b),
      opened_at: ago(30),
      moved_at: ago(29),
      summary: `Round trips of ${a.name} took 3.4 times as long as usual. The round trip of ${c.name} was 31.2 ms, compared with 30.0 ms before. The subnet moved to ${b.name}.`,
    },
    {
      ...usual,
      id: 1,
      subnet: '193.0.96.0/20',
      slowdown_ratio: 2.64,
      url: 'https://www.shop-17.example/catalogue/',
      state: 'server',
      control_now_ms: 96,
      opened_at: ago(200),
      closed_at: ago(199),
      summary: `${a.name} reported that pages took 2.6 times as long as usual. The round trip of ${c.name} was 96.0 ms, compared with 30.0 ms before. The subnet stayed with ${a.name} because the server itself is slow.`,
    },
  ];
}

/** Method, shape of the path below /api/v1/, and what answers. */
export const incidentRoutes = (world) => [
  [
    'GET',
    /^incidents$/,
    () => ({ items: world.agents.length ? incidents(world.agents) : [], next_cursor: null }),
  ],
];
