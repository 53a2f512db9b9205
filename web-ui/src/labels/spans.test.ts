import { describe, expect, it } from 'vitest';
import { hoursOf } from './spans';

describe('hours', () => {
  it('read as people write them', () => {
    const spans = ['mon-fri 22:00-06:00', 'sat-sun 00:00-24:00'];
    expect(hoursOf(spans, 'Europe/Nicosia')).toBe(
      'Mon–Fri 22:00–06:00, Sat–Sun all day (Europe/Nicosia)',
    );
    expect(hoursOf([], 'UTC')).toBe('at all hours');
    expect(hoursOf(['every full moon'], 'UTC')).toBe('every full moon (UTC)');
  });
});
