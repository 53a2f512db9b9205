// MOCK of requests to host an agent, of invitations, of downloads, and of API tokens.

const at = (hours) => new Date(Date.now() + hours * 3_600_000).toISOString();

const requests = [
  {
    id: 'jrq_2',
    state: 'waiting',
    name: 'Example University, library',
    contact: 'crawler@example.edu',
    place: 'Nicosia',
    zone: 'Europe/Nicosia',
    spans: ['mon-fri 22:00-06:00', 'sat-sun 00:00-24:00'],
    message: 'A quiet machine in our server room.',
    network: '192.0.2.7',
    created_at: at(-3),
    decided_at: null,
    decided_by: null,
    invitation_expires_at: null,
    opened_at: null,
    agent: null,
  },
];
requests.push(
  {
    ...requests[0],
    id: 'jrq_1',
    state: 'accepted',
    name: 'Kaisha Example KK',
    contact: 'https://www.kaisha.example/about/our-crawler',
    place: '',
    spans: [],
    message: '',
    created_at: at(-30),
    decided_at: at(-6),
    decided_by: 'admin',
    invitation_expires_at: at(162),
  },
  {
    ...requests[0],
    id: 'jrq_0',
    state: 'accepted',
    name: 'University of Cyprus',
    message: '',
    created_at: at(-60),
    decided_at: at(-55),
    decided_by: 'admin',
    invitation_expires_at: at(113),
    opened_at: at(-52),
    agent: { id: 'agt_1', name: 'nicosia-1' },
  },
);
const tokens = [
  {
    id: 'apt_1',
    name: 'night report',
    scope: 'viewer',
    account: 'acc_1',
    account_name: 'admin',
    created_at: at(-90),
    expires_at: at(8_000),
    last_used_at: at(-9),
  },
];

const decide = (id, values) =>
  Object.assign(
    requests.find((request) => request.id === id),
    { decided_at: at(0), decided_by: 'admin', ...values },
  );

function enter(body) {
  const id = `jrq_${requests.length + 2}`;
  requests.unshift({ ...requests.at(-1), ...body, id, created_at: at(0), state: 'waiting' });
  return { id };
}

function makeToken({ name, scope }) {
  const id = `apt_${tokens.length + 1}`;
  tokens.unshift({ ...tokens.at(-1), id, name, scope, created_at: at(0), last_used_at: null });
  return { id, token: 'ncapi_MOCK' };
}

/** Method, shape of the path below /api/v1/, and what answers. */
export const joiningRoutes = [
  [
    'GET',
    /^join-requests$/,
    ({ params }) => ({
      items: requests.filter(({ state }) => [null, state].includes(params.get('state'))),
      next_cursor: null,
    }),
  ],
  ['POST', /^join-requests$/, ({ body }) => enter(body)],
  [
    'POST',
    /^join-requests\/([^/]+)\/accept$/,
    ({ match }) => ({
      request: decide(match[1], { state: 'accepted', invitation_expires_at: at(336) }),
      path: '/invitation#MOCK',
    }),
  ],
  [
    'POST',
    /^join-requests\/([^/]+)\/decline$/,
    ({ match }) => decide(match[1], { state: 'declined' }),
  ],
  ['POST', /^join-tokens\/[^/]+\/revoke$/, () => ({})],
  [
    'POST',
    /^invitations\/open$/,
    () => ({ ...requests.at(-1), join_token: 'nc-mock-mock', expires_at: at(24) }),
  ],
  [
    'GET',
    /^downloads$/,
    () => ({
      programs: [
        { name: 'nearcrawl-agent', bytes: 21_000_000, sha256: 'a1'.repeat(32) },
        { name: 'nearcrawl-agent-aarch64', bytes: 20_000_000, sha256: 'b2'.repeat(32) },
      ],
      release_key: 'iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w',
    }),
  ],
  ['GET', /^api-tokens$/, () => ({ items: tokens, next_cursor: null })],
  ['POST', /^api-tokens$/, ({ body }) => makeToken(body)],
  ['DELETE', /^api-tokens\/[^/]+$/, () => ({})],
];
