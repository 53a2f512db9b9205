/** Texts of accounts and of the rules for passwords. */
import type { Role } from '../api/model';

/** Least length of a new password; the coordinator refuses shorter ones. */
export const passwordMin = 12;

/** What the rule for new passwords says. */
export const passwordRule = `At least ${passwordMin} characters, for example four random words.`;

export const roles: Role[] = ['viewer', 'admin'];

const names: Readonly<Record<Role, string>> = { admin: 'Admin', viewer: 'Viewer' };

const meanings: Readonly<Record<Role, string>> = {
  admin: 'sees and changes everything',
  viewer:
    'sees everything but the API tokens of others, and changes nothing but its own password and API tokens',
};

/** A script may do less than the person in whose name it works: accounts are not for scripts. */
const scopes: Readonly<Record<Role, string>> = {
  admin: 'sees everything, changes everything but accounts, and makes no API tokens',
  viewer:
    'sees everything but the API tokens of others, and changes nothing, but may revoke API tokens of its account',
};

export const roleName = (role: Role) => names[role];

export const roleMeaning = (role: Role) => meanings[role];

/** What an API token of this scope permits. */
export const scopeMeaning = (scope: Role) => scopes[scope];
