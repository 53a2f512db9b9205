//! Pages of lists, linked by opaque cursors.
//!
//! A cursor is the key of the last item in base64url. Lists run from the newest item to the oldest,
//! so the next page begins below that key, and items that arrive meanwhile shift nothing.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::problem::Problem;

/// Items of a page unless the request names a limit.
const LIMIT_DEFAULT: i64 = 50;
const LIMIT_MAX: i64 = 500;
const CURSOR_MAX_CHARS: usize = 64;

/// The page of a list that a request asks for.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Most items in the response; 50 by default.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

impl PageQuery {
    /// The limit, 1 to 500.
    pub fn limit(&self) -> Result<i64, Problem> {
        checked_limit(self.limit, LIMIT_DEFAULT)
    }

    /// The key below which the page begins; the largest key there is for the first page.
    pub fn before(&self) -> Result<i64, Problem> {
        self.cursor.as_deref().map_or(Ok(i64::MAX), decode_cursor)
    }

    /// The value and the key after which the page of a sorted list begins; none for the first page.
    pub fn after(&self) -> Result<Option<(i64, i64)>, Problem> {
        self.cursor.as_deref().map(decode_pair).transpose()
    }
}

/// `limit`, or `default` when absent; a problem when it is outside 1 to 500.
pub fn checked_limit(limit: Option<i64>, default: i64) -> Result<i64, Problem> {
    match limit.unwrap_or(default) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        other => {
            Err(Problem::bad_parameter("limit", format!("{other} is not within 1 and {LIMIT_MAX}")))
        }
    }
}

/// A problem for a cursor that this server did not issue.
pub fn bad_cursor() -> Problem {
    Problem::bad_parameter("cursor", "not a cursor of this list; omit it to read the first page")
}

/// The opaque cursor for `key`.
pub fn encode_cursor(key: i64) -> String {
    BASE64URL_NOPAD.encode(format!("a{key}").as_bytes())
}

/// The key in a cursor of [`encode_cursor`]; a problem for any other text.
pub fn decode_cursor(text: &str) -> Result<i64, Problem> {
    let decode = || {
        // A longer text cannot be ours and is not worth decoding.
        let short = Some(text).filter(|text| text.len() <= CURSOR_MAX_CHARS)?;
        let bytes = BASE64URL_NOPAD.decode(short.as_bytes()).ok()?;
        let key = std::str::from_utf8(&bytes).ok()?.strip_prefix('a')?;
        key.parse().ok()
    };
    decode().ok_or_else(bad_cursor)
}

/// The opaque cursor for the value by which a list is sorted and the key of its last item.
pub fn encode_pair(value: i64, key: i64) -> String {
    BASE64URL_NOPAD.encode(format!("b{value},{key}").as_bytes())
}

/// The pair in a cursor of [`encode_pair`]; a problem for any other text.
fn decode_pair(text: &str) -> Result<(i64, i64), Problem> {
    let decode = || {
        let short = Some(text).filter(|text| text.len() <= CURSOR_MAX_CHARS)?;
        let bytes = BASE64URL_NOPAD.decode(short.as_bytes()).ok()?;
        let (value, key) = std::str::from_utf8(&bytes).ok()?.strip_prefix('b')?.split_once(',')?;
        Some((value.parse().ok()?, key.parse().ok()?))
    };
    decode().ok_or_else(bad_cursor)
}

/// Reduces rows to the first `limit`. Returns the last of these if another page follows: the caller
/// reads one row more than `limit`.
pub fn cut<T>(rows: &mut Vec<T>, limit: i64) -> Option<&T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| more)
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// The items in the order of the list.
    pub items: Vec<T>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of `rows`. The caller reads one row more than `limit`, which shows whether
    /// another page follows.
    pub fn from_rows(mut rows: Vec<T>, limit: i64, key: impl Fn(&T) -> i64) -> Self {
        let next_cursor = cut(&mut rows, limit).map(|row| encode_cursor(key(row)));
        Self { items: rows, next_cursor }
    }

    /// The same page with each item converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), next_cursor: self.next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_decodes_to_its_key() {
        for key in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(decode_cursor(&encode_cursor(key)).unwrap(), key);
            assert_eq!(decode_pair(&encode_pair(key, 7)).unwrap(), (key, 7));
        }
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for text in ["", "x", "YQ", "YWJj", "!!", &"A".repeat(1000)] {
            assert!(decode_cursor(text).is_err(), "{text}");
            assert!(decode_pair(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_page_says_whether_more_follow() {
        let page = Page::from_rows(vec![1, 2, 3], 2, |item| *item);
        assert_eq!(page.items, [1, 2]);
        assert_eq!(page.next_cursor, Some(encode_cursor(2)));
        assert_eq!(Page::from_rows(vec![1, 2], 2, |item| *item).next_cursor, None);
    }
}
