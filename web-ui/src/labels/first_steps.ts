/** What a new coordinator needs before it has a page in the index. Pure. */
import type { Overview } from '../api/model';

/** A step of the way to the first page. */
interface FirstStep {
  id: 'registry' | 'agent' | 'seeds' | 'pages';
  name: string;
  isDone: boolean;
}

type State = Pick<Overview, 'generation' | 'agents' | 'hosts' | 'pages'>;

/** The steps in their order; none once a page is in the index. */
export function firstSteps({ generation, agents, hosts, pages }: State): FirstStep[] {
  if (pages.indexed > 0) return [];
  return [
    { id: 'registry', name: 'Load registry data', isDone: generation !== null },
    { id: 'agent', name: 'Approve an agent', isDone: agents.approved > 0 },
    { id: 'seeds', name: 'Add seeds', isDone: hosts.known > 0 },
    { id: 'pages', name: 'Wait for the first pages', isDone: false },
  ];
}
