// A machine that enrols with its own key over the agent protocol and then waits for approval. It never fetches: the
// behaviour of agents has its own tests. Once approved it can say that it sleeps, and release hosts.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A field of a signed message: its bytes behind their length. */
const field = (bytes) => Buffer.concat([eightBytes(bytes.length), bytes]);
const text = (value) => field(Buffer.from(value));
const number = (value) => field(eightBytes(value));

function eightBytes(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** The version of the build, so that raising it leaves no copy behind. */
const protocol = Number(
  /CURRENT: ProtocolVersion = ProtocolVersion\((\d+)\)/.exec(
    readFileSync(new URL('../../crates/protocol/src/version.rs', import.meta.url), 'utf8'),
  )[1],
);

/** Enrols with a join token. Returns the agent's id. */
export async function enrol(url, token, name) {
  return (await newcomer(url, token, name)).id;
}

/** Enrols with a join token. Returns the agent with its key. */
export async function newcomer(url, token, name) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const agent_time = Date.now();
  const nonce = randomBytes(16).toString('base64url');
  const profile = {
    name,
    contact: 'https://browser-test.example/crawler',
    version: '0.0.0',
    capacity_pages_per_day: 1,
    zone: 'Europe/Nicosia',
    spans: ['sun 03:00-03:01'],
  };
  const message = Buffer.concat([
    Buffer.from('nearcrawl enrol v2\0'),
    number(protocol),
    number(agent_time),
    text(token),
    text(nonce),
    text(profile.name),
    text(profile.contact),
    text(profile.version),
    number(profile.capacity_pages_per_day),
    text(profile.zone),
    number(profile.spans.length),
    ...profile.spans.map(text),
  ]);
  const { agent } = await post(url, 'enrol', {
    protocol,
    join_token: token,
    public_key: publicKey.export({ format: 'jwk' }).x,
    profile,
    agent_time,
    nonce,
    signature: sign(null, message, privateKey).toString('base64url'),
  });
  return { id: agent, privateKey };
}

/** A request of an agent, whose answer must be a success. */
async function post(url, path, body, bearer) {
  const headers = { 'content-type': 'application/json' };
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  const answer = await fetch(new URL(`/api/v1/agent/${path}`, url), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} was refused with ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

/** Opens a session of an approved newcomer. Returns how it sends a heartbeat. */
export async function heartbeats(url, { id, privateKey }) {
  const { nonce } = await post(url, 'challenge', { agent: id });
  const signed = Buffer.concat([
    Buffer.from('nearcrawl session v1\0'),
    Buffer.from(`${id}\n${nonce}`),
  ]);
  const { token } = await post(url, 'session', {
    agent: id,
    nonce,
    agent_nonce: randomBytes(16).toString('base64url'),
    signature: sign(null, signed, privateKey).toString('base64url'),
  });
  let orders_done = [];
  /** Says that it is awake, or asleep until a time, and that it executed the orders of the last answer. */
  return async (presence) => {
    const answer = await post(
      url,
      'heartbeat',
      {
        protocol,
        agent_time: Date.now(),
        hold_ms: 0,
        routes_after: 0,
        state: 'approved',
        probes_accepted: [],
        takes_probes: true,
        wants_region: false,
        orders_done,
        status: {
          ...presence,
          queued: 0,
          idle_reason: null,
        },
      },
      token,
    );
    orders_done = (answer.host_orders ?? []).map((order) => order.number);
    return answer;
  };
}
