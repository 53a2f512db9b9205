/** What a partner copies to the machine: the configuration, and the commands that start the agent. Pure. */
import type { Download, Downloads, OpenedInvitation } from '../api/model';

/** What the commands are made from. */
export interface Setup {
  /** URL of the coordinator, without a slash at its end. */
  coordinator: string;
  name: string;
  contact: string;
  place: string;
  zone: string;
  spans: string[];
  /** Public key of the operator's releases; null where the operator signs none. */
  releaseKey: string | null;
}

/** The setup of an invitation. */
export function setupOf(
  opened: OpenedInvitation,
  coordinator: string,
  downloads: Downloads | undefined,
): Setup {
  const { name, contact, place, zone, spans } = opened;
  const releaseKey = downloads?.release_key ?? null;
  return { coordinator, name, contact, place, zone, spans, releaseKey };
}

/** A TOML string: what JSON escapes, TOML reads in the same way. */
const quoted = (text: string) => JSON.stringify(text);

/** The contact as a URL, which the agent requires: a mail address gets its scheme. */
function contactUrl(contact: string): string {
  return contact.includes('://') || contact.startsWith('mailto:') ? contact : `mailto:${contact}`;
}

/** The configuration of the agent; with a directory for its data where it is not the usual one. */
export function configuration(setup: Setup, dataDir?: string): string {
  const lines = [
    `coordinator = ${quoted(setup.coordinator)}`,
    `contact = ${quoted(contactUrl(setup.contact))}`,
    `name = ${quoted(setup.name)}`,
    `zone = ${quoted(setup.zone)}`,
  ];
  if (dataDir) lines.push(`data_dir = ${quoted(dataDir)}`);
  if (setup.spans.length > 0) lines.push(`spans = [${setup.spans.map(quoted).join(', ')}]`);
  lines.push(...placeTable(setup.place));
  if (setup.releaseKey) lines.push('', '[update]', `key = ${quoted(setup.releaseKey)}`);
  return lines.join('\n');
}

/** `Nicosia, CY` as a table; nothing where the partner wrote no place. */
function placeTable(text: string): string[] {
  const match = /^\s*(.+?)\s*(?:,\s*([A-Za-z]{2})\s*)?$/.exec(text);
  if (!match?.[1]) return [];
  const country = match[2] ? [`country = ${quoted(match[2].toUpperCase())}`] : [];
  return ['', '[place]', `city = ${quoted(match[1])}`, ...country];
}

/** A file as a command that writes it. A line of the text cannot end it: `END` stands in none alone. */
const heredoc = (target: string, text: string) => `cat > ${target} <<'END'\n${text}\nEND`;

/** A program to download; null where the coordinator offers none, undefined while that is not known. */
export type Program = Download | null | undefined;

/** The program of that name, or the first one. */
export function programOf(downloads: Downloads | undefined, name: string | undefined): Program {
  if (!downloads) return undefined;
  const programs = downloads.programs ?? [];
  return programs.find((program) => program.name === name) ?? programs[0] ?? null;
}

/** Fetches the program, checks it, and runs `install` only if it is the one that the operator offers. */
function download(setup: Setup, program: Download, install: string): string[] {
  return [
    `curl -fsS -o nearcrawl-agent ${setup.coordinator}/downloads/${program.name}`,
    `echo '${program.sha256}  nearcrawl-agent' | sha256sum -c && ${install}`,
  ];
}

/** Says where the program must be, which the coordinator does not offer. */
function byHand(program: null | undefined, place: string): string[] {
  const why =
    program === null
      ? 'This coordinator offers no download'
      : 'The downloads of this coordinator are not known';
  return [
    `# ${why}: ask its operator for the program, and put it at ${place} first.`,
    `chmod 755 ${place}`,
  ];
}

/**
 * Keeps the configuration of an earlier agent, which may have rules of the owner. Under another name
 * each time: commands are pasted twice where something failed.
 */
const keepFormer = (file: string) => `[ ! -e ${file} ] || mv ${file} ${file}.$(date +%s)`;

/** Commands for a user without special rights: everything is in one directory. */
export function userCommands(setup: Setup, token: string, program: Program): string {
  return [
    'mkdir -p -m 700 ~/nearcrawl-agent && cd ~/nearcrawl-agent',
    ...(program
      ? // The file of an earlier run may be executable, which curl keeps, or busy.
        ['rm -f nearcrawl-agent', ...download(setup, program, 'chmod 755 nearcrawl-agent')]
      : byHand(program, '~/nearcrawl-agent/nearcrawl-agent')),
    keepFormer('agent.toml'),
    heredoc('agent.toml', configuration(setup, 'data')),
    heredoc('join-token', token),
    './nearcrawl-agent run --config agent.toml --join-token-file join-token',
  ].join('\n');
}

/** Commands for root: a service of systemd, in a sandbox and at the lowest priority. */
export function serviceCommands(setup: Setup, token: string, program: Program): string {
  const unit = '/etc/systemd/system/nearcrawl-agent.service';
  return [
    ...(program
      ? [
          'dir=$(mktemp -d) && cd "$dir"',
          ...download(setup, program, 'install -m 755 nearcrawl-agent /usr/bin/'),
          'cd / && rm -r "$dir"',
        ]
      : byHand(program, '/usr/bin/nearcrawl-agent')),
    'install -d -m 755 /etc/nearcrawl',
    keepFormer('/etc/nearcrawl/agent.toml'),
    // The service does not run as root, whose umask may let nobody else read.
    'install -m 644 /dev/null /etc/nearcrawl/agent.toml',
    heredoc('/etc/nearcrawl/agent.toml', configuration(setup)),
    'install -m 600 /dev/null /etc/nearcrawl/agent.env',
    heredoc('/etc/nearcrawl/agent.env', `NEARCRAWL_JOIN_TOKEN=${token}`),
    `curl -fsS -o ${unit} ${setup.coordinator}/downloads/nearcrawl-agent.service`,
    'systemctl daemon-reload',
    // A service that runs already would go on with the former program and configuration.
    'systemctl enable nearcrawl-agent && systemctl restart nearcrawl-agent',
    'sleep 5; nearcrawl-agent status',
  ].join('\n');
}

/** What a partner does with an agent that runs, for root or for a user. */
export function laterCommands(asService: boolean): { purpose: string; command: string }[] {
  const agent = asService
    ? (words: string) => `nearcrawl-agent ${words}`
    : (words: string) => `cd ~/nearcrawl-agent && ./nearcrawl-agent ${words} --config agent.toml`;
  const start = {
    purpose: 'It runs until its terminal closes. To start it again',
    command: agent('run'),
  };
  return [
    ...(asService ? [] : [start]),
    { purpose: 'What it does, and the fingerprint of its key', command: agent('status') },
    { purpose: 'What was fetched in your name', command: agent('log') },
    { purpose: 'If it does not work: what is wrong with the machine', command: agent('doctor') },
    { purpose: 'To pause it', command: agent('pause') },
    { purpose: 'To let it go on', command: agent('resume') },
    { purpose: 'To end it for good', command: agent('leave') },
  ];
}
