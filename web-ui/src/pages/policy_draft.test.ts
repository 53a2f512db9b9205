import { expect, test } from 'vitest';
import type { Policy } from '../api/model';
import { changesOf, rebased } from './policy_draft';

const stored = {
  preset: 'default',
  strategy: 'predictive',
  threshold_ms: 50,
  revisit_s: 86_400,
} as Policy;

test('a change names the edited settings alone, and never the preset', () => {
  expect(changesOf({ ...stored }, stored)).toEqual({});
  const draft = { ...stored, preset: null, threshold_ms: 70 };
  expect(changesOf(draft, stored)).toEqual({ threshold_ms: 70 });
});

test('edits stay when another stored policy arrives, and the other settings follow it', () => {
  const draft = { ...stored, threshold_ms: 70 };
  const byAnother = { ...stored, revisit_s: 3_600, strategy: 'threshold' } as Policy;
  const next = rebased(draft, stored, byAnother);
  expect(next).toEqual({ ...byAnother, threshold_ms: 70 });
  expect(changesOf(next, byAnother)).toEqual({ threshold_ms: 70 });
});

test('a field that is empty while another policy arrives stays empty', () => {
  const draft = { ...stored, threshold_ms: null };
  expect(rebased(draft, stored, { ...stored, revisit_s: 0 }).threshold_ms).toBeNull();
});
