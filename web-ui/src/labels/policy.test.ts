import { expect, test } from 'vitest';
import { groups, settingText, timeUnitOf } from './policy';

test('times are shown in the largest unit that fits', () => {
  expect(settingText(604_800, 'seconds')).toBe('7 days');
  expect(settingText(5_400, 'seconds')).toBe('90 minutes');
  expect(settingText(61, 'seconds')).toBe('61 seconds');
  expect(settingText(1_500, 'subnets')).toBe('1,500 subnets');
  expect(timeUnitOf(0)).toBe(1);
});

test('one of a unit is singular', () => {
  expect(settingText(3_600, 'seconds')).toBe('1 hour');
  expect(settingText(1, 'seconds')).toBe('1 second');
  expect(settingText(1, 'round trips')).toBe('1 round trip');
  expect(settingText(1, 'milliseconds per day')).toBe('1 millisecond per day');
  expect(settingText(1, 'of a thousand searches')).toBe('1 of a thousand searches');
});

test('every setting is in one group', () => {
  const keys = groups.flatMap((group) => group.settings.map((setting) => setting.key));
  expect(new Set(keys).size).toBe(keys.length);
});
