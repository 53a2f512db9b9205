import { expect, test } from 'vitest';
import { hiddenSides } from './scrolling';

const area = (scrollLeft: number) => ({ scrollLeft, clientWidth: 300, scrollWidth: 500 });

test('content is hidden at the sides to which an area can be scrolled', () => {
  expect(hiddenSides(area(0))).toEqual({ before: false, after: true });
  expect(hiddenSides(area(80))).toEqual({ before: true, after: true });
  expect(hiddenSides(area(200))).toEqual({ before: true, after: false });
});

test('an area that shows everything hides nothing, nor does a fraction of a pixel', () => {
  const whole = { scrollLeft: 0, clientWidth: 500, scrollWidth: 500 };
  expect(hiddenSides(whole)).toEqual({ before: false, after: false });
  expect(hiddenSides(area(199.6))).toEqual({ before: true, after: false });
});
