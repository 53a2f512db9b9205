//! Signs that the links of a site never end.
//!
//! Some are in a URL itself: the same segments again and again, or dozens of parameters. Others
//! need the time, such as a calendar that leads into the far future, or other URLs, such as a
//! filter with a thousand combinations; for these the crawler asks by [`is_far_calendar`] and
//! [`filter_of`].

pub use crate::calendars::is_far_calendar;

/// Path segments that may be equal before the URL is taken for a trap (`/a/a/a/a/a/a/…`).
const SAME_SEGMENTS: usize = 6;

/// Longest sequence of segments that is looked for, and how often it may follow itself
/// (`/a/b/a/b/a/b/…`).
const SEQUENCE: usize = 4;
const SEQUENCE_REPEATS: usize = 3;

/// Parameters that a query may have. Forms with more lead to no page of their own.
const PARAMETERS: usize = 24;

/// How often a query may have the same parameter with the same value.
const SAME_PARAMETERS: usize = 2;

/// Parameters from which on a query is taken for a filter, whose combinations are counted.
const FILTER_PARAMETERS: usize = 3;

/// Whether path and query show that the site is endless.
pub(crate) fn is_endless(path: &str, query: Option<&str>) -> bool {
    repeats_segments(path) || query.is_some_and(repeats_parameters)
}

fn repeats_segments(path: &str) -> bool {
    // Nearly all paths are too short, and need no list of their segments.
    if path.bytes().filter(|byte| *byte == b'/').count() <= SAME_SEGMENTS {
        return false;
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    (2..=SEQUENCE).any(|length| repeats_sequence(&segments, length))
        || has_equal(segments, SAME_SEGMENTS)
}

/// Whether more than `most` of these texts are equal. Sorted first, because the sender of a URL
/// chooses how many there are.
fn has_equal(mut texts: Vec<&str>, most: usize) -> bool {
    texts.sort_unstable();
    texts.windows(most + 1).any(|window| window.first() == window.last())
}

/// Whether a sequence of this many segments follows itself too often.
fn repeats_sequence(segments: &[&str], length: usize) -> bool {
    let needed = length * SEQUENCE_REPEATS;
    let mut equal = 0;
    for (earlier, later) in segments.iter().zip(&segments[length.min(segments.len())..]) {
        equal = if earlier == later { equal + 1 } else { 0 };
        if equal >= needed {
            return true;
        }
    }
    false
}

fn repeats_parameters(query: &str) -> bool {
    let count = query.bytes().filter(|byte| *byte == b'&').count() + 1;
    if count <= SAME_PARAMETERS {
        return false;
    }
    let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.len() > PARAMETERS || has_equal(pairs, SAME_PARAMETERS)
}

/// The filter that a URL applies, by its path and the names of its parameters; none where it
/// applies none. Equal for all combinations of values.
pub fn filter_of(path_and_query: &str) -> Option<String> {
    let (path, query) = path_and_query.split_once('?')?;
    let mut names: Vec<&str> = query
        .split('&')
        .map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name))
        .filter(|name| !name.is_empty())
        .collect();
    if names.len() < FILTER_PARAMETERS {
        return None;
    }
    names.sort_unstable();
    names.dedup();
    Some(format!("{path}?{}", names.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_segments_are_a_trap() {
        for path in [
            "/a/b/a/c/a/d/a/e/a/f/a/g/a",
            "/x/a/b/a/b/a/b/a/b",
            "/a/b/c/a/b/c/a/b/c/a/b/c/",
            "//a//a//a//a//a//a//a",
        ] {
            assert!(is_endless(path, None), "{path}");
        }
        for path in ["/", "/2026/11/20/a/b/c/d", "/a/b/a/b/a/b", "/0/1/0/1/0/1/2", "//////////"] {
            assert!(!is_endless(path, None), "{path}");
        }
    }

    #[test]
    fn seven_equal_segments_of_many_are_a_trap() {
        let mut segments: Vec<String> = (0..600).map(|number| format!("/{number}")).collect();
        assert!(!is_endless(&segments.concat(), None));
        for at in (0..600).step_by(100) {
            segments[at] = "/same".to_owned();
        }
        assert!(!is_endless(&segments.concat(), None), "six");
        segments[599] = "/same".to_owned();
        assert!(is_endless(&segments.concat(), None), "seven");
    }

    #[test]
    fn repeated_parameters_are_a_trap() {
        let many: Vec<String> = (0..=PARAMETERS).map(|number| format!("p{number}=1")).collect();
        for query in ["a=1&a=1&b=2&a=1", many.join("&").as_str()] {
            assert!(is_endless("/", Some(query)), "{query}");
        }
        for query in ["", "a", "a=1&a=2&a=3", "a=1&b=1&a=1", &many[1..].join("&")] {
            assert!(!is_endless("/", Some(query)), "{query}");
        }
    }

    #[test]
    fn a_filter_is_its_path_and_names() {
        let of = filter_of;
        assert_eq!(of("/shop?b=1&a=2&c=3").as_deref(), Some("/shop?a&b&c"));
        assert_eq!(of("/shop?a[]=2&a[]=3&b=1"), of("/shop?b=2&a[]=9&a[]=3"));
        assert_eq!(of("/shop?a=1&b=2"), None);
        assert_eq!(of("/shop"), None);
    }
}
