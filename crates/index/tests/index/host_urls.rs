//! The URLs of a host.

use super::*;

fn listed(index: &Index, host: &str, limit: usize) -> Vec<String> {
    let mut urls = Vec::new();
    let mut after = Some(String::new());
    while let Some(from) = after {
        let found = index.urls_of_host(host, &from, limit).unwrap();
        urls.extend(found.urls);
        after = found.next;
    }
    urls
}

#[test]
fn all_pages_of_a_host_are_listed_once_and_no_others() {
    let host = "http://a.example";
    let urls_of_host: Vec<String> = (10..40).map(|n| format!("{host}/{n}")).collect();
    let others = ["http://a.example:81/", "https://a.example/", "http://b.a.example/1"];
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir);
    // In several segments, of which one has older versions of the others' pages.
    for part in urls_of_host.chunks(7).chain([&urls_of_host[3..9]]) {
        for url in part {
            index.upsert(&page(url, "tree", "", None)).unwrap();
        }
        index.commit("").unwrap();
    }
    for url in others {
        index.upsert(&page(url, "tree", "", None)).unwrap();
    }
    let gone = FetchWithoutPage {
        url: &urls_of_host[4],
        fetched_at: FETCHED.plus_ms(1),
        now: FETCHED.plus_ms(2),
    };
    index.delete(&gone).unwrap();
    index.commit("").unwrap();
    let expected: Vec<&String> = urls_of_host.iter().filter(|url| *url != gone.url).collect();
    for limit in [1, 3, 10, 1_000] {
        assert_eq!(listed(&index, host, limit).iter().collect::<Vec<_>>(), expected, "{limit}");
    }
    assert_eq!(listed(&index, "http://c.example", 5), [""; 0]);
}
