//! Parts of a URL that identify visitors or campaigns, and not pages.
//!
//! Sites that write a session into each link have another URL for every page at every visit, and a
//! crawler that takes them for different pages never ends. So these parts do not count when two
//! URLs are compared. The URL that is requested keeps them.

use std::{borrow::Cow, ops::RangeInclusive};

/// Least length of a session's value. Shorter values may choose content.
const MIN_SESSION: usize = 16;

/// Parameters with a session, in lower case.
const SESSIONS: [&str; 5] = ["jsessionid", "phpsessid", "oscsid", "zenid", "cftoken"];
/// Parameters with a session, or with a story, a section or a session of a conference.
const AMBIGUOUS: [&str; 4] = ["sessionid", "session_id", "sessid", "sid"];
/// Lengths of the values of sessions in these parameters.
const AMBIGUOUS_SESSION: RangeInclusive<usize> = 26..=64;

/// Parameters that say how a visitor found the link, in lower case; [`UTM`] has further ones.
const CAMPAIGNS: [&str; 4] = ["gclid", "fbclid", "msclkid", "dclid"];
/// First characters of further parameters of campaigns.
const UTM: &str = "utm_";

/// `url`, which is normalised, without sessions and campaigns. Scheme and authority stay as they
/// are: another host is never the same page.
pub(crate) fn without_visitor_ids(url: &str) -> Cow<'_, str> {
    let path_at = url.match_indices('/').nth(2).map_or(url.len(), |(slash, _)| slash);
    let (host, path) = url.split_at(path_at);
    let kept = path_without_visitor_ids(path);
    // What is left out makes it shorter.
    if kept.len() == path.len() { Cow::Borrowed(url) } else { Cow::Owned(format!("{host}{kept}")) }
}

/// A path with its query, without sessions and campaigns.
fn path_without_visitor_ids(text: &str) -> Cow<'_, str> {
    if !text.contains(['?', ';']) {
        return Cow::Borrowed(text);
    }
    let (path, query) =
        text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    let path = without_path_sessions(path);
    let Some(query) = query else { return path };
    if !query.split('&').any(is_visitor_id) && matches!(path, Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_visitor_id(pair)).collect();
    // A query that was nothing else is as if it were not there.
    if kept.is_empty() { path } else { Cow::Owned(format!("{path}?{}", kept.join("&"))) }
}

/// A path without parameters such as `;jsessionid=0123456789ABCDEF`.
fn without_path_sessions(path: &str) -> Cow<'_, str> {
    let is_session = |part: &&str| is_visitor_id(part.split('/').next().unwrap_or_default());
    if !path.split(';').skip(1).any(|part| is_session(&part)) {
        return Cow::Borrowed(path);
    }
    let mut parts = path.split(';');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if is_session(&part) {
            // What follows the parameter belongs to the next segment.
            kept.push_str(part.find('/').map_or("", |slash| &part[slash..]));
        } else {
            kept.push(';');
            kept.push_str(part);
        }
    }
    Cow::Owned(kept)
}

fn is_visitor_id(pair: &str) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let is_named = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_campaign = name.get(..UTM.len()).is_some_and(|start| start.eq_ignore_ascii_case(UTM));
    let is_opaque = value.len() >= MIN_SESSION
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.!~,".contains(&byte));
    is_campaign
        || is_named(&CAMPAIGNS)
        || (is_opaque && is_named(&SESSIONS))
        || (is_random(value) && is_named(&AMBIGUOUS))
}

/// Whether a value is neither words, which may have hyphens, nor an identifier of content.
fn is_random(value: &str) -> bool {
    AMBIGUOUS_SESSION.contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_campaigns_are_left_out() {
        for (url, form) in [
            ("http://e.org/a?PHPSESSID=0123456789abcdef0123&b=1", "http://e.org/a?b=1"),
            ("http://e.org/a?b=1&sid=0123456789abcdefghijklmnop", "http://e.org/a?b=1"),
            ("http://e.org/a?zenid=abcdefghijklmnop", "http://e.org/a"),
            ("http://e.org/a?utm_source=x&UTM_medium=y", "http://e.org/a"),
            ("http://e.org/a?gclid=1", "http://e.org/a"),
            ("http://e.org/a;jsessionid=0A1B2C3D4E5F6789.node1?b=1", "http://e.org/a?b=1"),
            ("http://e.org/a;JSESSIONID=0A1B2C3D4E5F6789/b;v=1", "http://e.org/a/b;v=1"),
        ] {
            assert_eq!(without_visitor_ids(url), form);
        }
    }

    #[test]
    fn everything_else_stays() {
        for url in [
            "http://e.org/",
            "http://e.org/a?sid=12",
            "http://e.org/a?sid=international-news-of-2026",
            "http://e.org/a?sid=entertainmentandartsandmusic",
            "http://e.org/a?sid=20261120123456789012345678",
            "http://e.org/a?session_id=0b9ba9a4-6f0c-4f3e-8d5c-1b2a3c4d5e6f",
            "http://e.org/a?id=0123456789abcdef0123",
            "http://e.org/a?q=utm_source",
            "http://e.org/a?sessionid=two%20words%20of%20text",
            "http://e.org/a;v=1/b?c",
            "http://e.org/a?",
            "http://e.org/?utm",
            "http://e.org;utm_x/a",
            "http://e.org;jsessionid=0a1b2c3d4e5f6789/a?b",
        ] {
            assert!(
                matches!(without_visitor_ids(url), Cow::Borrowed(same) if same == url),
                "{url}"
            );
        }
    }
}
