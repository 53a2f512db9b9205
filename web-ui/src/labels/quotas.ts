/** The settings of the policy that bound what agents discover. */
export const DISCOVERY_QUOTAS = [
  {
    key: 'discovered_urls_per_agent',
    name: 'Discovered URLs per day and agent',
    unit: 'URLs',
    min: 1,
    max: 1_000_000_000,
    meaning:
      'URLs of other hosts that are queued of what one agent discovers in a day (UTC). The agent’s page shows what was refused.',
  },
  {
    key: 'discovered_hosts_per_agent',
    name: 'Discovered hosts per day and agent',
    unit: 'hosts',
    min: 1,
    max: 1_000_000_000,
    meaning: 'New hosts among the URLs that one agent discovers in a day (UTC).',
  },
  {
    key: 'discovered_urls_per_host',
    name: 'Discovered URLs per day and host',
    unit: 'URLs',
    min: 1,
    max: 1_000_000_000,
    meaning: 'Discovered URLs that are queued for one host in a day (UTC).',
  },
] as const;
