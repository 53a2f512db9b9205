/** Classes of round trips, with which maps and tables are coloured. Pure. */

/** Upper bounds in milliseconds of all classes but the last. */
const bounds = [10, 25, 50, 100, 200];

/** The class of a round trip, from 1 (near) to 6 (far), as `heat.css` names them. */
export function heatClass(ms: number): string {
  const index = bounds.findIndex((bound) => ms < bound);
  return `heat-${index < 0 ? bounds.length + 1 : index + 1}`;
}

/** All classes with their texts, the nearest first. */
export const heatClasses = [...bounds, Infinity].map((bound, index) => ({
  name: `heat-${index + 1}`,
  text: bound === Infinity ? `${bounds.at(-1)} ms and more` : `< ${bound} ms`,
}));
