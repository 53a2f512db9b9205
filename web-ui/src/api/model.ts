/** The bodies of the coordinator's API under short names. Their shapes come from its OpenAPI document. */
import type { components } from '../api';

type Schemas = components['schemas'];

export type Account = Schemas['Account'];
export type Agent = Schemas['Agent'];
export type AuditEntry = Schemas['AuditEntry'];
export type TrailProbe = Schemas['TrailProbe'];
export type ChainLink = Schemas['ChainLink'];
export type Delegation = Schemas['Delegation'];
export type Discovery = Schemas['Discovery'];
export type Findings = Schemas['Findings'];
export type FailedPackage = Schemas['FailedPackage'];
export type AddressLocation = Schemas['AddressLocation'];
export type JoinToken = Schemas['JoinToken'];
export type Kind = Schemas['SubnetKind'];
export type Landmarks = Schemas['Landmarks'];
export type Method = Schemas['ProbeMethod'];
export type Move = Schemas['Move'];
export type JoinTokenResponse = Schemas['JoinTokenResponse'];
export type NewAccount = Schemas['NewAccount'];
export type Overview = Schemas['Overview'];
export type Phase = Schemas['Phase'];
export type Policy = Schemas['Policy'];
export type PolicyChange = Schemas['PolicyChange'];
export type Preview = Schemas['Preview'];
export type Reason = Schemas['Reason'];
export type BackgroundTask = Schemas['BackgroundTask'];
export type BackgroundTasks = Schemas['BackgroundTasks'];
export type Role = Schemas['Role'];
export type Scope = Schemas['Scope'];
export type SearchResponse = Schemas['SearchResponse'];
export type ReportTrust = Schemas['ReportTrust'];
export type SearchResult = Schemas['SearchResult'];
export type SeedResponse = Schemas['SeedResponse'];
export type UserSession = Schemas['Session'];
export type SkipReason = Schemas['SkipReason'];
export type Constraint = Schemas['Constraint'];
export type ConstraintRequest = Schemas['ConstraintRequest'];
export type Verdict = Schemas['ProbeVerdict'];
export type Explanation = Schemas['Explanation'];

/** One part of a list. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
