// MOCK of regions.

const ago = (seconds) => new Date(Date.now() - 1000 * seconds).toISOString();

function member(agent, index, agents) {
  const dead = index === 2;
  const roster = { epoch: 3, delta: dead ? 9 : 12 };
  return {
    agent: { id: agent.id, name: agent.name },
    weight: 5,
    ring_share: 1 / agents.length,
    ranges: 40 + 3 * index,
    listens: index % 2 === 0,
    activity: dead ? 'replaced' : 'alive',
    heard_at: ago(dead ? 900 : 3 + index),
    roster,
    has_lease: !dead,
    replaces: dead ? [] : [agents[2].id],
    exchange: {
      hosts: 300 + index,
      waiting: dead ? 17 : index,
      sent: 12_000 + 100 * index,
      received: 11_000 + 90 * index,
      refused: index === 3 ? 2 : 0,
    },
  };
}

/** Method, shape of the path below /api/v1/, and what answers. */
export function regionRoutes({ agents }) {
  const members = agents.slice(0, 5);
  const region = () => ({
    id: 'rgn_1',
    name: 'ripencc',
    roster: { epoch: 3, delta: 12 },
    mode: 'safe',
    replicas: 200,
    recovery: 1,
    ranges: 230,
    lent_until: ago(-24 * 3600),
    members: members.map(member),
  });
  const items = () => (members.length < 3 ? [] : [region()]);
  return [['GET', /^regions$/, () => ({ enabled: true, leader: true, items: items() })]];
}
