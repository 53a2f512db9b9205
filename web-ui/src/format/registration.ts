/** Countries and languages by their English names. */

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });
const languages = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' });

/** `CY` to `Cyprus`. Codes that registries use without meaning a country (`EU`, `AP`, `ZZ`) are said as such. */
export function country(code: string | null | undefined): string {
  if (!code) return 'no country recorded';
  const upper = code.toUpperCase();
  if (upper === 'ZZ') return 'no country recorded';
  if (upper === 'AP') return 'Asia and Pacific';
  return named(regions, upper);
}

/** `el` to `Greek`. */
export function language(code: string): string {
  return named(languages, code);
}

function named(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code; // not a well-formed code: better shown as it is than hidden
  }
}

const registries: Record<string, string> = {
  afrinic: 'AFRINIC',
  apnic: 'APNIC',
  arin: 'ARIN',
  lacnic: 'LACNIC',
  ripencc: 'RIPE NCC',
};

/** A registry as it writes itself: `ripencc` to `RIPE NCC`. */
export function registry(code: string | null | undefined): string {
  if (!code) return '–';
  return registries[code] ?? code;
}

/** A handle that names a company only to its registry: one word with a digit in it. */
const handle = /^(?=\S*\d)[\w-]+$/;

/** A company as the registry wrote it; a bare handle is said to be one, and shortened to what tells it apart. */
export function company(name: string | null): string {
  if (!name) return 'no company recorded';
  if (!handle.test(name)) return name;
  return `company ${name.length > 12 ? `${name.slice(0, 8)}…` : name}`;
}
