/** Whether there is more of a scrolled area at its sides. Pure. */

/** The measures of an element that say it. */
type ScrolledArea = Pick<Element, 'scrollLeft' | 'clientWidth' | 'scrollWidth'>;

/** At which sides content is hidden. Less than a pixel is rounding: zoomed pages have fractions. */
export function hiddenSides(area: ScrolledArea): { before: boolean; after: boolean } {
  return {
    before: area.scrollLeft >= 1,
    after: area.scrollWidth - area.clientWidth - area.scrollLeft >= 1,
  };
}
