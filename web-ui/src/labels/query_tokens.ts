/** Tokens of a query, split as the coordinator does it (`crates/index/src/query/tokens.rs`). */

/** A part of a query between spaces or between quotes. */
export interface Token {
  /** Without hyphen and quotes. */
  text: string;
  quoted: boolean;
  excluded: boolean;
  /** Offset in the query, hyphen and quotes included. */
  start: number;
  /** Offset behind the token, hyphen and quotes included. */
  end: number;
}

const space = String.raw`\p{White_Space}`;
const quote = '"“”„«»「」';
const unspaced = ['Thai', 'Laoo', 'Tibt', 'Mymr', 'Khmr', 'Hang', 'Hani', 'Hira', 'Kana', 'Bopo']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');

/** A letter or digit of a script with spaces: a quote behind it is an apostrophe or an inch. */
const letter = String.raw`(?![${unspaced}])[\p{Alphabetic}\p{N}]`;

// A hyphen before a space is punctuation.
const hyphen = `(?<hyphen>[-−](?!${space}))?`;
// A quote between two letters does not close a phrase; the end of the query closes any.
const phrase = `[${quote}](?<phrase>.*?)(?:(?<!${letter})[${quote}]|[${quote}](?!${letter})|$)`;
const word = `(?<word>(?:[^${space}${quote}]|(?<=${letter})[${quote}])+)`;
const token = new RegExp(`${hyphen}(?:${phrase}|${word})`, 'gsu');

/** The tokens of a query, in order. */
export function tokensOf(query: string): Token[] {
  return [...query.matchAll(token)].map((match) => ({
    text: match.groups?.['phrase'] ?? match.groups?.['word'] ?? '',
    quoted: match.groups?.['phrase'] !== undefined,
    excluded: match.groups?.['hyphen'] !== undefined,
    start: match.index,
    end: match.index + match[0].length,
  }));
}
