// MOCK of pins, exclusions, overrides and moves, over the invented world of mock-world.mjs.
const counters = { pin: 0, exc: 0 };
const ended = new Set();
const made = { pin: [], exc: [] };

const soon = (days) => new Date(Date.now() + days * 86_400_000).toISOString();
const ref = ({ id, name }) => ({ id, name });

function scopeText(scope) {
  if (scope.range) return scope.range;
  if (scope.country) return `the subnets in ${scope.country}`;
  return 'the subnets of EXAMPLE-ORG (ripencc)';
}

function itemOf(kind, { scope, agent, reason, expires_at }, agents) {
  counters[kind] += 1;
  const named = scope.company_of
    ? { company: { registry: 'ripencc', handle: 'EXAMPLE-ORG' } }
    : scope;
  return {
    id: `${kind}_${counters[kind]}`,
    scope: named,
    scope_text: scopeText(scope),
    agent: ref(agents.find((one) => one.id === agent)),
    reason,
    created_by: 'admin',
    created_at: new Date().toISOString(),
    expires_at,
    ended_at: null,
    ended_by: null,
  };
}

/** Preview of one reassigned subnet. */
function previewOf(subnet, from, to) {
  const burden = (agent, load_before, load_after) => ({
    agent: ref(agent),
    capacity: 50_000,
    load_before,
    load_after,
  });
  const agents = [burden(from, 31_200, 30_860)];
  if (to && to.id !== from.id) agents.push(burden(to, 49_900, 50_240));
  return {
    subnets: 1,
    hosts: 3,
    pages_per_day: 340,
    cost_before_ms: 14_280,
    cost_after_ms: to ? 27_880 : 0,
    unmeasured: to ? 0 : 1,
    lent: 0,
    reassignments: [
      {
        subnet,
        from: ref(from),
        to: to ? ref(to) : null,
        hosts: 3,
        pages_per_day: 340,
        cost_before_ms: 14_280,
        cost_after_ms: to ? 27_880 : null,
      },
    ],
    agents,
  };
}

function moves(agents) {
  const [a, b, c] = agents;
  return [
    {
      id: 'mov_2',
      at: new Date(Date.now() - 7_000_000).toISOString(),
      subnet: '60.37.64.0/19',
      from: ref(a),
      to: ref(b),
      delegation: 'dlg_3',
      rule: 'cheapest',
      pages_per_day: 410,
      cost_before_ms: 9_840,
      cost_after_ms: 12_300,
      predicted: false,
      rejected_alternatives: [
        {
          subnet: '60.37.64.0/19',
          agent: ref(c),
          cost_ms: 31_000,
          reason: 'dearer',
          amount: 18_700,
        },
      ],
    },
    {
      id: 'mov_1',
      at: new Date(Date.now() - 70_000_000).toISOString(),
      subnet: '193.0.96.0/20',
      from: ref(b),
      to: ref(c),
      delegation: 'dlg_5',
      rule: 'optimal',
      pages_per_day: 96,
      cost_before_ms: 4_800,
      cost_after_ms: 1_150,
      predicted: false,
      rejected_alternatives: [],
    },
  ];
}

/** Method, shape of the path below /api/v1/, and what answers. */
export function steeringRoutes(world) {
  const list = (kind) => ({
    items: made[kind].filter((item) => !ended.has(item.id)).toReversed(),
    next_cursor: null,
  });
  const first = () => world.delegations[0];
  function make(kind, { body, params }) {
    const subnet = body.scope.range ?? first()?.subnet ?? '0.0.0.0/0';
    const from = world.delegations.find((item) => item.subnet === subnet)?.agent ?? first().agent;
    const to = kind === 'pin' ? world.agents.find((one) => one.id === body.agent) : null;
    const preview = previewOf(subnet, from, to);
    if (params.get('dry_run') === 'true') return { item: null, preview };
    const item = itemOf(kind, body, world.agents);
    made[kind].push(item);
    return { item, preview };
  }
  function remove(kind, { match, params }) {
    const item = made[kind].find((one) => one.id === match[1]);
    const preview = previewOf(item.scope.range ?? first().subnet, item.agent, null);
    if (params.get('dry_run') !== 'true') ended.add(item.id);
    return { item, preview };
  }
  function override({ match, body, params }) {
    const delegation = world.delegations.find((item) => item.id === match[1]);
    const to = world.agents.find((one) => one.id === body.agent);
    const preview = previewOf(delegation.subnet, delegation.agent, to);
    if (params.get('dry_run') === 'true') return { delegation: null, preview };
    Object.assign(delegation, { agent: ref(to), reason: 'override' });
    return { delegation, preview };
  }
  if (world.agents.length > 2) {
    const [one, two] = world.agents;
    const range = { scope: { range: '82.102.64.0/18' }, agent: one.id, expires_at: soon(30) };
    made.pin.push(itemOf('pin', { ...range, reason: 'their contract says so' }, world.agents));
    const country = { scope: { country: 'CY' }, agent: two.id, expires_at: null };
    const reason = 'its provider charges for that way';
    made.exc.push(itemOf('exc', { ...country, reason }, world.agents));
  }
  return [
    ['GET', /^pins$/, () => list('pin')],
    ['POST', /^pins$/, (request) => make('pin', request)],
    ['DELETE', /^pins\/([^/]+)$/, (request) => remove('pin', request)],
    ['GET', /^exclusions$/, () => list('exc')],
    ['POST', /^exclusions$/, (request) => make('exc', request)],
    ['DELETE', /^exclusions\/([^/]+)$/, (request) => remove('exc', request)],
    ['POST', /^delegations\/([^/]+)\/override$/, override],
    [
      'GET',
      /^moves$/,
      () => ({ items: world.agents.length ? moves(world.agents) : [], next_cursor: null }),
    ],
    ['GET', /^failed-packages$/, () => ({ items: [], next_cursor: null })],
    [
      'GET',
      /^audit\/findings$/,
      () => ({
        checked_at: new Date().toISOString(),
        items: world.agents.length
          ? [
              {
                kind: 'over_capacity',
                message:
                  'agent agt_2 holds 50240 pages a day and can crawl 50000; move some of its subnets',
              },
            ]
          : [],
      }),
    ],
  ];
}
