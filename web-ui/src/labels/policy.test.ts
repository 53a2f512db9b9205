import { expect, test } from 'vitest';
import { groups, settingText, timeUnitOf } from './policy';

test('times are shown in the largest unit that fits', () => {
  expect(settingText(604_800, 'seconds')).toBe('7 days');
  expect(settingText(5_400, 'seconds')).toBe('90 minutes');
  expect(settingText(61, 'seconds')).toBe('61 seconds');
  expect(settingText(1_500, 'subnets')).toBe('1,500 subnets');
  expect(timeUnitOf(0)).toBe(1);
});

test('every setting is in one group', () => {
  const keys = groups.flatMap((group) => group.settings.map((setting) => setting.key));
  expect(new Set(keys).size).toBe(keys.length);
});
