// MOCK of accounts, of the audit log, and of what agents discovered.

const ago = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();

const accounts = [
  { id: 'acc_2', name: 'vera', role: 'viewer', created_at: ago(300), last_seen_at: null },
  { id: 'acc_1', name: 'admin', role: 'admin', created_at: ago(900), last_seen_at: ago(0) },
];

const entries = [
  [4, 'admin', 'account.create', 'acc_2', { name: 'vera', role: 'viewer' }],
  [3, 'admin', 'agent.approve', 'agt_3', {}],
  [2, 'admin', 'session.open', 'admin', {}],
  [1, 'coordinator', 'admin.create', 'admin', {}],
].map(([id, actor, action, subject, detail]) => ({
  id,
  at: ago(5 - id),
  actor,
  action,
  subject,
  detail,
}));

const fits = (entry, params) =>
  ['actor', 'subject'].every((key) => !params.get(key) || entry[key] === params.get(key)) &&
  `${entry.action}.`.startsWith(params.get('action') ? `${params.get('action')}.` : '');

function change(id, values) {
  const account = accounts.find((candidate) => candidate.id === id);
  return Object.assign(account, values);
}

function create({ name, role }) {
  const id = `acc_${accounts.length + 1}`;
  const account = { id, name, role, created_at: ago(0), last_seen_at: null };
  accounts.unshift(account);
  return account;
}

function remove(id) {
  accounts.splice(
    accounts.findIndex((account) => account.id === id),
    1,
  );
  return {};
}

/** Method, shape of the path below /api/v1/, and what answers. */
export const accountRoutes = [
  ['GET', /^accounts$/, () => ({ items: accounts, next_cursor: null })],
  ['POST', /^accounts$/, ({ body }) => create(body)],
  ['DELETE', /^accounts\/([^/]+)$/, ({ match }) => remove(match[1])],
  ['PUT', /^accounts\/([^/]+)\/role$/, ({ match, body }) => change(match[1], { role: body.role })],
  ['PUT', /^accounts\/([^/]+)\/password$/, ({ match }) => change(match[1], {})],
  ['PUT', /^session\/password$/, () => ({})],
  [
    'GET',
    /^audit\/entries$/,
    ({ params }) => ({
      items: entries.filter((entry) => fits(entry, params)),
      next_cursor: null,
      counts: null,
    }),
  ],
  [
    'GET',
    /^agents\/[^/]+\/discovery$/,
    () => ({
      days: [
        { day: '2018-11-21', urls: 1842, new_hosts: 31, refused_urls: 12 },
        { day: '2018-11-20', urls: 911, new_hosts: 18, refused_urls: 0 },
      ],
    }),
  ],
];
