import { expect, test } from 'vitest';
import { configuration, programOf, serviceCommands, userCommands, type Setup } from './commands';

const setup: Setup = {
  coordinator: 'https://search.example.org',
  name: 'The "library"',
  contact: 'crawler@example.edu',
  place: 'Nicosia, cy',
  zone: 'Europe/Nicosia',
  spans: ['mon-fri 22:00-06:00'],
  releaseKey: null,
};
const program = { name: 'nearcrawl-agent', bytes: 3, sha256: 'ba78' };

test('the configuration has what the partner wrote, quoted', () => {
  const text = configuration(setup);
  expect(text).toContain('name = "The \\"library\\""');
  expect(text).toContain('spans = ["mon-fri 22:00-06:00"]');
  expect(text).toContain('contact = "mailto:crawler@example.edu"');
  expect(configuration({ ...setup, contact: 'https://a.example/' })).toContain(
    '"https://a.example/"',
  );
  expect(text).not.toContain('data_dir');
  expect(configuration({ ...setup, spans: [] })).not.toContain('spans');
});

test('the place is a table behind the keys', () => {
  const text = configuration(setup, 'data');
  expect(text).toMatch(/data_dir[^]*\[place\]\ncity = "Nicosia"\ncountry = "CY"$/);
  expect(configuration({ ...setup, place: '' })).not.toContain('place');
});

test('the release key is a table at the end, where the operator signs releases', () => {
  const text = configuration({ ...setup, releaseKey: 'a-key' });
  expect(text).toMatch(/\[place\][^]*\n\n\[update\]\nkey = "a-key"$/);
  expect(configuration(setup)).not.toContain('update');
});

test('no command has the token as an argument', () => {
  for (const commands of [userCommands, serviceCommands]) {
    const lines = commands(setup, 'nc-secret', program).split('\n');
    const withToken = lines.filter((line) => line.includes('nc-secret'));
    expect(withToken).toHaveLength(1);
    expect(withToken[0]).toMatch(/^(NEARCRAWL_JOIN_TOKEN=)?nc-secret$/);
  }
});

test('a program is checked before it may run', () => {
  expect(userCommands(setup, 't', program)).toContain(
    "echo 'ba78  nearcrawl-agent' | sha256sum -c && chmod 755 nearcrawl-agent",
  );
  expect(serviceCommands(setup, 't', program)).toContain(
    "echo 'ba78  nearcrawl-agent' | sha256sum -c && install -m 755 nearcrawl-agent /usr/bin/",
  );
});

test('a user removes the program of an earlier run, whose mode curl would keep', () => {
  expect(userCommands(setup, 't', program)).toContain('\nrm -f nearcrawl-agent\ncurl ');
  expect(userCommands(setup, 't', null)).not.toContain('rm -f');
});

test('the configuration of an earlier agent is kept, and its service runs the new one', () => {
  const ofUser = userCommands(setup, 't', program);
  expect(ofUser).toContain(
    '\n[ ! -e agent.toml ] || mv agent.toml agent.toml.$(date +%s)\ncat > agent.toml',
  );
  const file = '/etc/nearcrawl/agent.toml';
  const ofService = serviceCommands(setup, 't', program);
  expect(ofService).toContain(
    `\n[ ! -e ${file} ] || mv ${file} ${file}.$(date +%s)\ninstall -m 644`,
  );
  expect(ofService).toContain('systemctl restart nearcrawl-agent');
});

test('without a program the commands say whether the coordinator offers none or that is unknown', () => {
  for (const commands of [userCommands, serviceCommands]) {
    expect(commands(setup, 't', null)).toContain('offers no download');
    expect(commands(setup, 't', undefined)).toContain('are not known');
    expect(commands(setup, 't', undefined)).not.toContain('offers no download');
  }
  expect(userCommands(setup, 't', null)).toContain('put it at ~/nearcrawl-agent/nearcrawl-agent');
  const ofService = serviceCommands(setup, 't', null);
  expect(ofService).toContain('put it at /usr/bin/nearcrawl-agent');
  expect(ofService).not.toContain('mktemp');
});

test('the program is the chosen one, or else the first', () => {
  const other = { ...program, name: 'nearcrawl-agent-aarch64' };
  const downloads = { programs: [program, other], release_key: null };
  expect(programOf(downloads, undefined)).toBe(program);
  expect(programOf(downloads, other.name)).toBe(other);
  expect(programOf({ programs: null, release_key: null }, undefined)).toBeNull();
  expect(programOf({ programs: [], release_key: null }, undefined)).toBeNull();
  expect(programOf(undefined, other.name)).toBeUndefined();
});
