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
  viewer: 'sees everything and changes nothing',
};

export const roleName = (role: Role) => names[role];

export const roleMeaning = (role: Role) => meanings[role];
