/** The bodies of the coordinator's API under short names. Their shapes come from its OpenAPI document. */
import type { components, operations } from '../api';

type Schemas = components['schemas'];

export type AcceptedJoinRequest = Schemas['AcceptedJoinRequest'];
export type Account = Schemas['Account'];
export type ActivityBucket = Schemas['ActivityBucket'];
export type Agent = Schemas['Agent'];
export type AgentList = Schemas['AgentList'];
export type AgentPresence = Agent['presence'];
export type AgentSort = NonNullable<
  NonNullable<operations['list_agents']['parameters']['query']>['sort']
>;
export type AgentState = Agent['state'];
export type AgentRef = Schemas['AgentRef'];
export type AuditLog = Schemas['AuditLog'];
export type ApiToken = Schemas['ApiToken'];
export type AuditEntry = Schemas['AuditEntry'];
export type TrailProbe = Schemas['TrailProbe'];
export type ChainLink = Schemas['ChainLink'];
export type Delegation = Schemas['Delegation'];
export type DelegationList = Schemas['DelegationList'];
export type DelegationSort = NonNullable<
  NonNullable<operations['list_delegations']['parameters']['query']>['sort']
>;
export type Download = Schemas['Download'];
export type Downloads = Schemas['Downloads'];
export type JoinRequest = Schemas['JoinRequest'];
export type NewApiToken = Schemas['NewApiToken'];
export type NewJoinRequest = Schemas['NewJoinRequest'];
export type OpenedInvitation = Schemas['OpenedInvitation'];
export type Discovery = Schemas['Discovery'];
export type Drain = Schemas['Drain'];
export type Hidden = Schemas['Hidden'];
export type HideRequest = Schemas['HideRequest'];
export type Findings = Schemas['Findings'];
export type FailedPackage = Schemas['FailedPackage'];
export type Incident = Schemas['Incident'];
export type AddressLocation = Schemas['AddressLocation'];
export type JoinToken = Schemas['JoinToken'];
export type Kind = Schemas['SubnetKind'];
export type Ipv4Map = Schemas['Ipv4Map'];
export type MeasuredAgent = Schemas['MeasuredAgent'];
export type Locality = Schemas['Locality'];
export type Method = Schemas['ProbeMethod'];
export type Move = Schemas['Move'];
export type JoinTokenResponse = Schemas['JoinTokenResponse'];
export type NewAccount = Schemas['NewAccount'];
export type Overview = Schemas['Overview'];
export type Phase = Schemas['Phase'];
export type Policy = Schemas['Policy'];
export type PolicyChange = Schemas['PolicyChange'];
export type Preview = Schemas['Preview'];
export type Progress = Schemas['Progress'];
export type Reason = Schemas['Reason'];
export type BackgroundTask = Schemas['BackgroundTask'];
export type BackgroundTasks = Schemas['BackgroundTasks'];
export type Region = Schemas['Region'];
export type RegionMember = Schemas['Member'];
export type Regions = Schemas['Regions'];
export type Role = Schemas['Role'];
export type HomeTimeMap = Schemas['HomeTimeMap'];
export type RoundTripRow = Schemas['RoundTripRow'];
export type RoundTripMap = Schemas['RoundTripMap'];
export type Scope = Schemas['Scope'];
export type SearchResponse = Schemas['SearchResponse'];
export type ReportTrust = Schemas['ReportTrust'];
export type SearchResult = Schemas['SearchResult'];
export type SeedResponse = Schemas['SeedResponse'];
export type Takeover = Schemas['Takeover'];
export type Series = Schemas['Series'];
export type SeriesQuery = NonNullable<operations['get_series']['parameters']['query']>;
export type UserSession = Schemas['Session'];
export type SkipReason = Schemas['SkipReason'];
export type Constraint = Schemas['Constraint'];
export type ConstraintRequest = Schemas['ConstraintRequest'];
export type Verdict = Schemas['ProbeVerdict'];
export type WorldMap = Schemas['WorldMap'];
export type Explanation = Schemas['Explanation'];
export type ErrorKind = Schemas['ErrorKind'];
export type ErrorsOfDay = Schemas['ErrorsOfDay'];
export type FetchOutcome = Schemas['FetchOutcome'];
export type Host = Schemas['Host'];
export type HostList = Schemas['HostList'];
export type HostDetails = Schemas['HostDetails'];
export type HostSort = NonNullable<
  NonNullable<operations['list_hosts']['parameters']['query']>['sort']
>;
export type HostState = Schemas['HostState'];
export type Inspection = Schemas['Inspection'];
export type InspectionStep = Schemas['InspectionStep'];
export type StepName = Schemas['StepName'];

/** One part of a list. */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
