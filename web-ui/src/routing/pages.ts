/** The pages of the dashboard, in the order of the navigation. */
import type { IconName } from '../ui/Icon.svelte';

export interface DashboardPage {
  path: string;
  name: string;
  icon: IconName;
}

export const pages: readonly DashboardPage[] = [
  { path: '/overview', name: 'Overview', icon: 'overview' },
  { path: '/inspector', name: 'Inspector', icon: 'inspector' },
  { path: '/agents', name: 'Agents', icon: 'agents' },
  { path: '/regions', name: 'Regions', icon: 'regions' },
  { path: '/delegations', name: 'Delegations', icon: 'delegations' },
  { path: '/hosts', name: 'Hosts', icon: 'hosts' },
  { path: '/errors', name: 'Errors', icon: 'warning' },
  { path: '/maps', name: 'Maps', icon: 'maps' },
  { path: '/constraints', name: 'Constraints and moves', icon: 'pin' },
  { path: '/hierarchy', name: 'Hierarchy', icon: 'hierarchy' },
  { path: '/seeds', name: 'Seeds', icon: 'seeds' },
  { path: '/hidden', name: 'Hidden from search', icon: 'hidden' },
  { path: '/policy', name: 'Policy', icon: 'policy' },
  { path: '/accounts', name: 'Accounts', icon: 'accounts' },
  { path: '/audit', name: 'Audit log', icon: 'log' },
];
