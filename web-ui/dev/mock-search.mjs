// MOCK: invented search results in several scripts, for looking at the search page.

const pages = [
  [
    'https://oliveoil.example/history/ancient-presses.html',
    'Ancient olive presses of the eastern Mediterranean',
    'en',
    'Stone presses found near the harbour show that |olive| |oil| was made here for export; the amphorae beside them carry the marks of three |oil| merchants.',
  ],
  [
    'https://www.elaiolado.example/%CE%B5%CE%BB%CE%B9%CE%AC/',
    'Το ελαιόλαδο στην κυπριακή κουζίνα',
    'el',
    'Συνταγές και παραδόσεις: πώς το |olive| |oil| έγινε η βάση κάθε πιάτου, από τα όσπρια ως τα γλυκά.',
  ],
  [
    'https://zeytin.example/arsiv/2018/hasat?sayfa=2',
    'Zeytin hasadı ve soğuk sıkım',
    'tr',
    'Soğuk sıkım |olive| |oil| için zeytinler aynı gün değirmene gider.',
  ],
  [
    'http://zayt.example/%D8%B2%D9%8A%D8%AA',
    'زيت الزيتون من البستان إلى المائدة',
    'ar',
    'كيف يصل |olive| |oil| من البستان إلى المائدة في يوم واحد.',
  ],
  [
    'https://kitchen.example/pantry/fats',
    '',
    'en',
    'Which fat for which pan: |olive| |oil| for low heat, rapeseed for high, butter for the end. <b>This is text, not markup.</b>',
  ],
  [
    'https://olivenoel.example/test/2026/blindverkostung-der-nativen-oele-aus-neun-laendern-mit-allen-einzelnoten.html',
    'Blindverkostung: neun native Öle im Vergleich',
    'de',
    'Fruchtig, bitter, scharf: die Prüfer gaben dem |olive| |oil| aus Kreta die beste Note, knapp vor zwei aus Apulien.',
  ],
  [
    'https://aceite.example/blog/como-elegir',
    'Cómo elegir un buen aceite',
    'es',
    'Un buen |olive| |oil| se conoce por la fecha de cosecha, no por la de envasado.',
  ],
  [
    'https://museum.example/press',
    'The press in the museum',
    'en',
    'The last animal-driven press of the valley, still smelling of |olive| |oil|, can be seen on weekdays.',
  ],
];

function item([url, title, lang, text], index, now) {
  const snippet = text.split('|').map((piece, place) => ({ text: piece, hit: place % 2 === 1 }));
  const minutes = (index * 37 + 4) * 60_000;
  return {
    url,
    title,
    copies: index % 5 === 1 ? [url.replace('https:', 'http:'), `${url}?print=1`] : [],
    host: new URL(url).host,
    lang,
    snippet,
    fetched_at: new Date(now - minutes).toISOString(),
    score: 9 - index,
  };
}

const part = 8;

/** Whether a page has every word of the query, and fits its filters. */
function fits([url, title, lang, text], query) {
  return query
    .split(' ')
    .filter(Boolean)
    .every((word) => {
      if (word.startsWith('site:')) return new URL(url).host === word.slice(5);
      if (word.startsWith('lang:')) return lang === word.slice(5);
      return `${title} ${text}`.toLowerCase().includes(word.toLowerCase());
    });
}

/** The pages three times over, so that there is something to page through. */
const many = [1, 2, 3].flatMap((round) =>
  pages.map(([url, ...rest]) => [round === 1 ? url : `${url}#${round}`, ...rest]),
);

export function searchFor(query, cursor, now) {
  const found = many.filter((page) => fits(page, query));
  const start = cursor ? Number(cursor) : 0;
  const items = found
    .slice(start, start + part)
    .map((page, index) => item(page, start + index, now));
  const next_cursor = start + part < found.length ? String(start + part) : null;
  return { query, total: found.length, took_ms: 3.7, items, next_cursor };
}
