// A machine that enrols with its own key over the agent protocol and then waits for approval. It never works: the
// behaviour of agents has its own tests.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A field of a signed message: its bytes behind their length. */
const field = (bytes) => Buffer.concat([eightBytes(bytes.length), bytes]);
const text = (value) => field(Buffer.from(value));
const number = (value) => field(eightBytes(value));

function eightBytes(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

/** Enrols with a join token. Returns the agent's id. */
export async function enrol(url, token, name) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const protocol = 3;
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
  const answer = await fetch(new URL('/api/v1/agent/enrol', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      protocol,
      join_token: token,
      public_key: publicKey.export({ format: 'jwk' }).x,
      profile,
      agent_time,
      nonce,
      signature: sign(null, message, privateKey).toString('base64url'),
    }),
  });
  if (!answer.ok)
    throw new Error(`enrolment was refused with ${answer.status}: ${await answer.text()}`);
  return (await answer.json()).agent;
}
