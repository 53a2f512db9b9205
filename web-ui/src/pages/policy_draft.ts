/** The policy as it is edited, beside the stored one, which other admins may change meanwhile. Pure. */
import type { Policy } from '../api/model';
import type { Amount, Choice } from '../labels/policy';

/** The settings in the form; null for a number whose field is empty. */
export type PolicyDraft = Record<Amount, number | null> & Pick<Policy, Choice>;

/** The settings of the draft that differ from those before. The preset is no setting: it follows from them. */
export function changesOf(draft: PolicyDraft, before: PolicyDraft): Partial<PolicyDraft> {
  const entries = Object.entries(draft) as [keyof PolicyDraft | 'preset', unknown][];
  const changed = entries.filter(([key, value]) => key !== 'preset' && value !== before[key]);
  return Object.fromEntries(changed);
}

/** The draft on top of another stored policy: what differs from `before` was edited, and stays. */
export function rebased(draft: PolicyDraft, before: PolicyDraft, stored: Policy): PolicyDraft {
  return { ...stored, ...changesOf(draft, before) };
}
