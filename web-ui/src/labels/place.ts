import type { Agent } from '../api/model';

/** Degrees as people write them: 35.17° N, on one line. */
function degrees(value: number, positive: string, negative: string): string {
  return `${Math.abs(value).toFixed(2)}°\u00a0${value < 0 ? negative : positive}`;
}

/** Where the owner of an agent says it is. */
export function placeOf({ city, latitude, longitude }: Agent): string {
  if (latitude === null || longitude === null) return 'not said by its owner';
  const position = `${degrees(latitude, 'N', 'S')}, ${degrees(longitude, 'E', 'W')}`;
  return city === null ? position : `${city} (${position})`;
}
