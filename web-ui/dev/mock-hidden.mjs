// MOCK of what admins have hidden from the search.

let items = [
  {
    id: 'hid_1',
    kind: 'site',
    target: 'leaks.example',
    reason: 'order 12/2026 of the district court',
    hidden_by: 'admin',
    hidden_at: new Date(Date.now() - 90_000_000).toISOString(),
  },
];
let made = items.length;

function hide({ target, reason }) {
  const kind = target.includes('://') ? 'page' : 'site';
  made += 1;
  const hidden_at = new Date().toISOString();
  const item = { id: `hid_${made}`, kind, target, reason, hidden_by: 'admin', hidden_at };
  items = [item, ...items];
  return item;
}

function show(id) {
  items = items.filter((item) => item.id !== id);
  return {};
}

/** Method, shape of the path below /api/v1/, and what answers. */
export const hiddenRoutes = [
  ['GET', /^hidden$/, () => ({ items, next_cursor: null })],
  ['POST', /^hidden$/, ({ body }) => hide(body)],
  ['DELETE', /^hidden\/([^/]+)$/, ({ match }) => show(match[1])],
];
