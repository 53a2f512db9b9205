//! Here is a long list: which part of it, and how is the next part asked for?
//!
//! A cursor is the sort key of the last item given, opaque to the caller: base64url of a version
//! letter and the key. Lists stay right while rows come and go, which offsets would not.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::problem::Problem;

/// Most items one answer holds.
pub const LIMIT_MAX: i64 = 500;
const LIMIT_USUAL: i64 = 50;
const CURSOR_MAX_CHARS: usize = 64;

/// Which part of a list is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Part {
    /// Most items in the answer; 50 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

impl Part {
    /// The limit, 1..=500.
    pub fn limit(&self) -> Result<i64, Problem> {
        checked_limit(self.limit, LIMIT_USUAL)
    }

    /// The number below which the list goes on: lists run from the newest to the oldest.
    pub fn before(&self) -> Result<i64, Problem> {
        self.cursor.as_deref().map_or(Ok(i64::MAX), |text| decoded(text).ok_or_else(bad_cursor))
    }
}

/// `limit` or `usual`, refused outside of 1..=500.
pub fn checked_limit(limit: Option<i64>, usual: i64) -> Result<i64, Problem> {
    match limit.unwrap_or(usual) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        other => {
            Err(Problem::bad_parameter("limit", format!("{other} is not within 1 and {LIMIT_MAX}")))
        }
    }
}

/// 400 for a cursor that this server never gave.
pub fn bad_cursor() -> Problem {
    Problem::bad_parameter("cursor", "not a cursor of this list; leave it out to begin anew")
}

/// The opaque cursor for `key`.
pub fn encoded(key: i64) -> String {
    BASE64URL_NOPAD.encode(format!("a{key}").as_bytes())
}

/// The key in a cursor that [`encoded`] made.
pub fn decoded(text: &str) -> Option<i64> {
    if text.len() > CURSOR_MAX_CHARS {
        return None;
    }
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let key = std::str::from_utf8(&bytes).ok()?.strip_prefix('a')?;
    key.parse().ok()
}

/// One part of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T> {
    /// The items, in the list's order.
    pub items: Vec<T>,
    /// Give it as `cursor` to get what follows; null at the end.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// The first `limit` of `items`; the caller asked the store for one more to know whether any
    /// follow.
    pub fn cut(mut items: Vec<T>, limit: i64, key: impl Fn(&T) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next_cursor = items.last().filter(|_| more).map(|item| encoded(key(item)));
        Self { items, next_cursor }
    }

    /// The same page of other words.
    pub fn map<U>(self, word: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(word).collect(), next_cursor: self.next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_comes_back() {
        for key in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(decoded(&encoded(key)), Some(key));
        }
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for text in ["", "x", "YQ", "YWJj", "!!", &"A".repeat(1000)] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_says_whether_more_follow() {
        let page = Page::cut(vec![1, 2, 3], 2, |item| *item);
        assert_eq!(page.items, [1, 2]);
        assert_eq!(page.next_cursor, Some(encoded(2)));
        assert_eq!(Page::cut(vec![1, 2], 2, |item| *item).next_cursor, None);
    }
}
