import { expect, test } from 'vitest';
import type { Region, RegionMember } from '../api/model';
import { isBehind, leaseLabel, versionName } from './regions';

test('a member is behind where its roster or its last change is older', () => {
  const region = { roster: { epoch: 3, delta: 5 } } as Region;
  const behind = (roster: RegionMember['roster']) => isBehind({ roster } as RegionMember, region);
  expect(behind({ epoch: 2, delta: 9 })).toBe(true);
  expect(behind({ epoch: 3, delta: 4 })).toBe(true);
  expect(behind({ epoch: 3, delta: 5 })).toBe(false);
  expect(behind({ epoch: 4, delta: 0 })).toBe(false);
  expect(behind(null)).toBe(false);
});

test('a lease that was not reported is not called missing', () => {
  expect(leaseLabel(null).text).toBe('No report yet');
  expect(leaseLabel(false).text).toBe('None');
  expect(versionName({ epoch: 3, delta: 12 })).toBe('3.12');
});
