/** The values of a query that are given. */
type Given<Q> = { [Name in keyof Q]?: Exclude<Q[Name], '' | null | undefined> };

/** A query without its empty values. */
export function given<Q extends object>(query: Q): Given<Q> {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value != null);
  return Object.fromEntries(kept) as Given<Q>;
}
