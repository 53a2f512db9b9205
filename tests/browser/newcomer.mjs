// A machine that enrols with its own key over the agent protocol and then waits for approval. It never works: the
// behaviour of agents has its own tests.
import { generateKeyPairSync, sign } from 'node:crypto';

/** Enrols with a join token. Returns the agent's id. */
export async function enrol(url, token, name) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const agent_time = Date.now();
  const message = Buffer.from(`nearcrawl enrol v1\0${agent_time}\n${token}`);
  const answer = await fetch(new URL('/api/v1/agent/enrol', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      protocol: 1,
      join_token: token,
      public_key: publicKey.export({ format: 'jwk' }).x,
      profile: {
        name,
        contact: 'https://browser-test.example/crawler',
        version: '0.0.0',
        capacity_pages_per_day: 1,
        zone: 'Europe/Nicosia',
        spans: ['sun 03:00-03:01'],
      },
      agent_time,
      signature: sign(null, message, privateKey).toString('base64url'),
    }),
  });
  if (!answer.ok)
    throw new Error(`enrolment was refused with ${answer.status}: ${await answer.text()}`);
  return (await answer.json()).agent;
}
