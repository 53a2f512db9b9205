// Lists with counts, drains and the agents that measured a range, as the mock answers them.

/** Agents that pass the filters, with counts, in the order asked for. */
export function agentList(agents, params, part) {
  const text = (params.get('q') ?? '').toLowerCase();
  const named = agents.filter((agent) => agent.name.toLowerCase().includes(text));
  const state = params.get('state');
  const presence = params.get('presence');
  const items = named.filter(
    (agent) =>
      (!state || agent.state === state) &&
      (!presence || (agent.state === 'approved' && agent.presence === presence)),
  );
  return {
    ...part(items, params),
    total: items.length,
    states: counted(named, 'state'),
    presences: counted(
      named.filter((agent) => agent.state === 'approved'),
      'presence',
    ),
  };
}

function counted(agents, key) {
  const values = [...new Set(agents.map((agent) => agent[key]))];
  return values.map((value) => ({
    [key]: value,
    agents: agents.filter((agent) => agent[key] === value).length,
  }));
}

/** Begins a drain that is half done. */
export function drain(agent, deadline_after_s) {
  const now = Date.now();
  agent.drain = {
    state: 'draining',
    requested_by: 'admin',
    requested_at: new Date(now).toISOString(),
    deadline_at: deadline_after_s ? new Date(now + deadline_after_s * 1000).toISOString() : null,
    drained_at: null,
    subnets_at_request: agent.delegations * 2,
    hosts_at_request: agent.hosts * 2,
  };
  return agent;
}

/** Every subnet of the agent goes to another one. */
export function successors(agent, agents, delegations) {
  const held = delegations.filter((item) => item.agent.id === agent.id);
  const to = agents.find((other) => other.id !== agent.id && other.state === 'approved');
  const reassignments = held.map((item) => ({
    subnet: item.subnet,
    from: item.agent,
    to: { id: to.id, name: to.name },
    hosts: item.hosts,
    pages_per_day: 40,
    cost_before_ms: 400,
    cost_after_ms: 900,
  }));
  return {
    held: held.length,
    preview: {
      subnets: held.length,
      hosts: held.reduce((sum, item) => sum + item.hosts, 0),
      pages_per_day: 40 * held.length,
      cost_before_ms: 400 * held.length,
      cost_after_ms: 900 * held.length,
      unmeasured: 0,
      lent: 0,
      reassignments,
      agents: [],
    },
  };
}

/** The approved agents, a few milliseconds apart. */
export function measuredAgents(agents) {
  const approved = agents.filter((agent) => agent.state === 'approved').slice(0, 4);
  const items = approved.map(({ id, name }, at) => ({
    agent: { id, name },
    state: 'approved',
    subnets: 1 + at,
    median_ms: 11.5 + 7 * at,
  }));
  return { items };
}
