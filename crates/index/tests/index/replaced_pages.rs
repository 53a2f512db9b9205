//! Later and earlier fetches of a page, and its removal.

use super::*;

/// A fetch without a page, received some time after [`FETCHED`].
fn without_page(url: &str, fetched_at: UnixMillis) -> FetchWithoutPage<'_> {
    FetchWithoutPage { url, fetched_at, now: FETCHED.plus_ms(60_000) }
}

#[test]
fn a_page_is_there_once_as_last_fetched() {
    let (_dir, index) = index_of(&[page("http://a.example/", "", "old words", None)]);
    let at = |fetched_at, text| Document {
        fetched_at: UnixMillis(fetched_at),
        ..page("http://a.example/", "", text, None)
    };
    index.upsert(&at(3_000, "new words")).unwrap();
    index.upsert(&at(2_000, "stale words")).unwrap();
    index.commit("").unwrap();
    index.upsert(&at(2_000, "stale words")).unwrap();
    index.commit("").unwrap();
    assert_eq!(index.len(), 1);
    assert_eq!(urls(&index, "new").len(), 1);
    assert_eq!(urls(&index, "stale").len() + urls(&index, "old").len(), 0);
}

#[test]
fn all_pages_of_an_agent_are_deleted_and_no_others() {
    let (dir, index) = index_of(&[]);
    let of = |agent, url, fetched_at| Document {
        agent: AgentId::new(agent),
        fetched_at: UnixMillis(fetched_at),
        ..page(url, "", "words", None)
    };
    index.upsert(&of(1, "http://a.example/", 1_000)).unwrap();
    index.upsert(&of(2, "http://b.example/", 1_000)).unwrap();
    index.commit("").unwrap();
    // One page of the agent is committed, and one is not.
    index.upsert(&of(1, "http://c.example/", 3_000)).unwrap();
    index.delete_agent(AgentId::new(1)).unwrap();
    // An older fetch of another agent takes the place of the page that is gone.
    index.upsert(&of(2, "http://c.example/", 2_000)).unwrap();
    index.commit("").unwrap();
    let mut found = urls(&index, "words");
    found.sort();
    assert_eq!(found, ["http://b.example/", "http://c.example/"]);
    drop(index);
    assert_eq!(open(&dir).len(), 2, "also after a restart");
}

#[test]
fn a_page_is_deleted_by_its_url() {
    let (_dir, index) = index_of(&[
        page("http://a.example/", "tree", "", None),
        page("http://c.example/", "tree", "", None),
    ]);
    index.delete(&without_page("http://a.example/", FETCHED.plus_ms(1))).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "tree"), ["http://c.example/"]);
}

#[test]
fn a_page_that_comes_after_its_removal_stays_removed() {
    let (dir, index) = index_of(&[]);
    let url = "http://a.example/";
    index.delete(&without_page(url, FETCHED.plus_ms(1))).unwrap();
    for _ in 0..2 {
        // Before and after the commit.
        index.upsert(&page(url, "tree", "", None)).unwrap();
        index.commit("").unwrap();
        assert_eq!(urls(&index, "tree"), [] as [&str; 0]);
    }
    let found = search(&index, "site:a.example site:example", 0, 10);
    assert_eq!((found.total, index.len(), index.fetched_at(url).unwrap()), (0, 0, None));
    drop(index);
    let index = open(&dir);
    let later = Document { fetched_at: FETCHED.plus_ms(2), ..page(url, "bush", "", None) };
    index.upsert(&later).unwrap();
    index.commit("").unwrap();
    assert_eq!((urls(&index, "bush").len(), index.len()), (1, 1), "it is a page again");
}

#[test]
fn an_earlier_fetch_without_a_page_removes_no_later_page() {
    let url = "http://a.example/";
    let (_dir, index) = index_of(&[page(url, "tree", "", None)]);
    index.delete(&without_page(url, FETCHED.plus_ms(-1))).unwrap();
    assert_eq!(urls(&index, "tree"), [url], "a committed page");
    let later = Document {
        fetched_at: FETCHED.plus_ms(9),
        now: FETCHED.plus_ms(9),
        ..page(url, "bush", "", None)
    };
    index.upsert(&later).unwrap();
    index.delete(&without_page(url, FETCHED.plus_ms(8))).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "bush"), [url], "and one that was not committed");
    let now = FETCHED.plus_ms(1);
    index.delete(&FetchWithoutPage { url, fetched_at: FETCHED, now }).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "bush"), [] as [&str; 0], "a time that cannot be true does not count");
}

#[test]
fn a_page_from_the_future_is_replaced() {
    let (_dir, index) = index_of(&[]);
    let page = |fetched_at, now, text| Document {
        fetched_at: UnixMillis(fetched_at),
        now: UnixMillis(now),
        ..page("http://a.example/", "", text, None)
    };
    index.upsert(&page(i64::MAX, 5_000, "future")).unwrap();
    index.commit("").unwrap();
    index.upsert(&page(4_000, 6_000, "present")).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "present").len(), 1);
    assert_eq!(urls(&index, "future"), [""; 0]);
}

#[test]
fn spellings_of_one_url_are_one_page() {
    let (_dir, index) = index_of(&[page("http://a.example/tree?utm_source=n", "tree", "", None)]);
    let later =
        |ms, url| Document { fetched_at: FETCHED.plus_ms(ms), ..page(url, "tree", "", None) };
    index.upsert(&later(1, "http://a.example/%74ree")).unwrap();
    index.upsert(&later(2, "http://a.example/tree")).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "tree"), ["http://a.example/tree"], "as it was fetched last");
    let other = "http://a.example/tree?utm_source=m";
    assert_eq!(index.fetched_at(other).unwrap(), Some(FETCHED.plus_ms(2)));
    index.delete(&without_page(other, FETCHED.plus_ms(3))).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "tree"), [""; 0]);
}
