//! The index as its callers use it: pages in, search results out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::{Duration, Instant};

use index::{
    Document, FetchWithoutPage, Index, OpenError, SearchError, SearchResults, WINDOW_MAX,
    WriteError,
};
use model::{AgentId, UnixMillis};
use proptest::prelude::*;
use tempfile::TempDir;

mod hidden_pages;
mod host_urls;
mod paging;
mod ranking;
mod replaced_pages;
mod snippets;

/// When pages of these tests were fetched.
const FETCHED: UnixMillis = UnixMillis(1_000);

fn page<'a>(url: &'a str, title: &'a str, text: &'a str, lang: Option<&'a str>) -> Document<'a> {
    let fetched_at = FETCHED;
    let agent = AgentId::new(1);
    let now = UnixMillis(10_000);
    Document {
        agent,
        url,
        canonical: None,
        title,
        headings: "",
        text,
        max_snippet: None,
        lang,
        fetched_at,
        now,
    }
}

fn open(dir: &TempDir) -> Index {
    Index::open(dir.path(), 0).unwrap()
}

fn index_of(pages: &[Document<'_>]) -> (TempDir, Index) {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir);
    for page in pages {
        index.upsert(page).unwrap();
    }
    index.commit("").unwrap();
    (dir, index)
}

fn urls(index: &Index, query: &str) -> Vec<String> {
    search(index, query, 0, 10).hits.into_iter().map(|hit| hit.url).collect()
}

fn search(index: &Index, query: &str, offset: usize, limit: usize) -> SearchResults {
    index.search(in_a_minute(), &[], query, offset, limit).unwrap()
}

fn in_a_minute() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

#[test]
fn title_beats_text_and_exact_form_beats_stem() {
    let (_dir, index) = index_of(&[
        page("http://a.example/stem", "x", "they were crawling all over the place", Some("en")),
        page("http://a.example/text", "x", "one crawl all over the place and back", Some("en")),
        page("http://a.example/title", "crawl", "one went all over the place and back", Some("en")),
        page("http://a.example/none", "x", "nothing at all", Some("en")),
    ]);
    assert_eq!(
        urls(&index, "crawl"),
        ["http://a.example/title", "http://a.example/text", "http://a.example/stem"]
    );
}

#[test]
fn a_search_ends_at_its_deadline() {
    let (_dir, index) = index_of(&[page("http://a.example/", "tree", "a tree", None)]);
    let now = Instant::now();
    let until = |deadline| index.search(deadline, &[], "tree", 0, 10);
    assert_eq!(until(now + Duration::from_hours(1)).unwrap().total, 1);
    assert!(matches!(until(now), Err(SearchError::TooLong)));
}

#[test]
fn headings_beat_text_and_title_beats_headings() {
    let text = "the house on the hill was red and its door was open all day";
    let of = |url, title, headings| Document { headings, ..page(url, title, text, None) };
    let (_dir, index) = index_of(&[
        of("http://a.example/text", "x", "other words"),
        of("http://a.example/heading", "x", "red door"),
        of("http://a.example/title", "red door", "other words"),
        of("http://a.example/none", "x", "red hill"),
    ]);
    for query in ["door", "\"red door\""] {
        let found = urls(&index, query);
        let expected = ["http://a.example/title", "http://a.example/heading"];
        assert_eq!(found[..2], expected, "{query}");
    }
}

#[test]
fn words_in_order_come_first_and_phrases_are_strict() {
    let (_dir, index) = index_of(&[
        page("http://a.example/1", "", "the cat saw the red house of the king", None),
        page("http://a.example/2", "", "the house saw the cat of the red king", None),
        page("http://a.example/3", "", "the red cat saw the house", None),
    ]);
    assert_eq!(urls(&index, "red house")[0], "http://a.example/1");
    assert_eq!(urls(&index, "red house").len(), 3);
    assert_eq!(urls(&index, "\"red house\""), ["http://a.example/1"]);
    assert_eq!(urls(&index, "house -\"red house\" -saw"), [""; 0]);
    assert_eq!(urls(&index, "red -house"), [""; 0]);
}

#[test]
fn many_words_need_not_all_be_there() {
    let (_dir, index) = index_of(&[page("http://a.example/", "", "one two three", None)]);
    assert_eq!(urls(&index, "one two three four").len(), 1);
    assert_eq!(urls(&index, "one two four").len(), 0);
}

#[test]
fn a_pasted_address_finds_its_page() {
    let url = "https://www.b%C3%BCcher.example/wiki/Pr%C3%A4sident?id=7";
    let url = url::Url::parse(url).unwrap();
    let (_dir, index) = index_of(&[
        page(url.as_str(), "", "words", None),
        page("https://www.c.example/", "", "words", None),
    ]);
    for query in
        ["https://www.bücher.example/wiki/Präsident?id=7", "www.bücher.example", "präsident"]
    {
        assert_eq!(urls(&index, query), [url.as_str()], "{query}");
    }
    assert_eq!(urls(&index, "c3 a4sident"), [] as [&str; 0], "bytes of letters are no words");
}

#[test]
fn filters_narrow_the_answer() {
    let (_dir, index) = index_of(&[
        page("http://www.uni.example/x", "tree", "", Some("en-GB")),
        page("https://uni.example:8443/y", "tree", "", Some("de")),
        page("http://notuni.example/z", "tree", "", None),
        page("http://192.0.2.7/z", "tree", "", None),
    ]);
    assert_eq!(urls(&index, "tree site:uni.example").len(), 2);
    assert_eq!(urls(&index, "tree site:www.uni.example").len(), 1);
    assert_eq!(urls(&index, "site:example lang:de"), ["https://uni.example:8443/y"]);
    assert_eq!(urls(&index, "tree lang:en lang:de").len(), 2);
    assert_eq!(urls(&index, "tree -site:example"), ["http://192.0.2.7/z"]);
    assert_eq!(urls(&index, "site:192.0.2.7"), ["http://192.0.2.7/z"]);
    assert_eq!(urls(&index, "notuni"), ["http://notuni.example/z"]);
}

#[test]
fn many_scripts_are_searchable() {
    let texts = [
        ("ja", "東京都は日本の首都です。", "首都"),
        ("zh", "我喜欢吃苹果", "苹果"),
        ("zh", "猫", "猫"),
        ("ko", "서울은 대한민국의 수도이다", "대한민국"),
        ("th", "ภาษาไทยไม่มีช่องว่าง", "ช่องว่าง"),
        ("el", "Η Αθήνα είναι πόλη", "αθηνα"),
        ("ar", "مُحَمَّد في القاهرة", "محمد"),
        ("hi", "नमस्ते दुनिया", "दुनिया"),
        ("ru", "пауки плетут сети", "паук"),
        ("tr", "İstanbul güzel", "istanbul"),
        ("fa", "کتاب خوب", "كتاب"),
    ];
    let addresses: Vec<String> = (0..texts.len()).map(|n| format!("http://{n}.example/")).collect();
    let pages: Vec<_> = texts
        .iter()
        .zip(&addresses)
        .map(|((lang, text, _), url)| page(url, "", text, Some(lang)))
        .collect();
    let (_dir, index) = index_of(&pages);
    for ((_, text, query), url) in texts.iter().zip(&addresses) {
        let results = search(&index, query, 0, 10);
        assert!(results.hits.iter().any(|hit| hit.url == *url), "{query} in {text}");
        assert!(
            results.hits[0].snippet.iter().any(|fragment| fragment.is_match),
            "{query} marked in {text}"
        );
    }
}

#[test]
fn a_phrase_of_words_without_spaces_between_letters_is_found() {
    let url = "http://kr.example/";
    let (_dir, index) = index_of(&[page(url, "", "대한민국 서울 東京 tower", None)]);
    for phrase in ["\"대한민국 서울\"", "\"東京 tower\"", "\"서울 東京\""] {
        assert_eq!(urls(&index, phrase), [url], "{phrase}");
    }
    assert_eq!(urls(&index, "\"서울 대한민국\""), [] as [&str; 0]);
}

#[test]
fn files_that_a_killed_process_left_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(&dir));
    let leftover = dir.path().join(".tmpA1b2C3");
    std::fs::write(&leftover, "half").unwrap();
    let index = open(&dir);
    assert!(!leftover.exists());
    assert_eq!(index.len(), 0);
}

#[test]
fn a_url_without_a_host_is_refused_and_harms_nothing() {
    let (_dir, index) = index_of(&[]);
    index.upsert(&page("http://a.example/", "tree", "", None)).unwrap();
    for url in ["", "nonsense", "mailto:a@b.example", "data:,x"] {
        assert!(
            matches!(index.upsert(&page(url, "tree", "", None)), Err(WriteError::Url { .. })),
            "{url}"
        );
    }
    index.commit("").unwrap();
    assert_eq!(index.len(), 1);
}

#[test]
fn nothing_is_found_before_the_commit_nor_lost_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir);
    index.upsert(&page("http://a.example/", "tree", "", None)).unwrap();
    assert_eq!(index.len(), 0);
    index.commit("").unwrap();
    assert_eq!(index.len(), 1);
    drop(index);
    assert_eq!(urls(&open(&dir), "tree").len(), 1);
}

#[test]
fn a_commit_keeps_its_progress() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir);
    assert_eq!(index.progress(), "");
    index.commit("one").unwrap();
    // So much text forces a commit of its own, which must not change the progress.
    let large = "word ".repeat(200 << 10);
    for n in 0..40 {
        index.upsert(&page(&format!("http://{n}.example/"), "", &large, None)).unwrap();
    }
    assert_eq!(index.progress(), "one");
    drop(index);
    let index = open(&dir);
    assert_eq!(index.progress(), "one");
    index.commit("two").unwrap();
    drop(index);
    assert_eq!(open(&dir).progress(), "two");
}

#[test]
fn files_that_a_failed_merge_left_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(&dir);
    index.upsert(&page("http://a.example/", "Oak", "A tree.", None)).unwrap();
    index.commit("one").unwrap();
    drop(index);
    // Tantivy lists the files that it has made.
    let list = dir.path().join(".managed.json");
    let leave = |name: &str| {
        std::fs::write(dir.path().join(name), "half of a segment").unwrap();
        let made = std::fs::read_to_string(&list).unwrap();
        std::fs::write(&list, made.replacen('[', &format!("[\"{name}\","), 1)).unwrap();
    };
    leave("0123456789abcdef0123456789abcdef.store");
    let index = open(&dir);
    let left = std::fs::read_dir(dir.path()).unwrap().flatten();
    let left: Vec<String> = left.map(|file| file.file_name().into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.starts_with("0123")), "{left:?}");
    index.collect_garbage();
    assert_eq!(urls(&index, "tree").len(), 1);
}

#[test]
fn a_directory_is_held_by_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let _index = open(&dir);
    let error = Index::open(dir.path(), 0).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
}

#[test]
fn a_directory_without_an_index_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let error = Index::open(&dir.path().join("file"), 0).unwrap_err();
    assert!(matches!(error, OpenError::Directory { .. }), "{error}");
    std::fs::write(dir.path().join("meta.json"), "{").unwrap();
    let error = Index::open(dir.path(), 0).unwrap_err();
    assert!(matches!(error, OpenError::Open { .. }), "{error}");
    assert!(error.to_string().contains("remove that directory"), "{error}");
}

const CHILD_DIR: &str = "NEARCRAWL_INDEX_TEST_CHILD";

/// The process that the next test kills. It commits three pages, writes more, and reports that.
#[test]
#[ignore = "run by other tests of this file as a process of its own"]
fn child_that_is_killed() {
    let dir = std::env::var_os(CHILD_DIR).expect("the parent test sets it");
    let index = Index::open(dir.as_ref(), 0).unwrap();
    for n in 0..100 {
        index.upsert(&page(&format!("http://{n}.example/"), "tree", "", None)).unwrap();
        if n == 2 {
            index.commit("").unwrap();
        }
    }
    println!("\nwritten");
    std::thread::park();
}

#[test]
fn a_killed_process_leaves_the_last_commit() {
    use std::io::{BufRead as _, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["child_that_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(CHILD_DIR, dir.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "written"));
    child.kill().unwrap();
    child.wait().unwrap();
    let index = open(&dir);
    assert_eq!(index.len(), 3);
    index.upsert(&page("http://later.example/", "tree", "", None)).unwrap();
    index.commit("").unwrap();
    assert_eq!(urls(&index, "tree").len(), 4);
}

#[test]
fn an_excluded_phrase_that_no_page_contains_changes_nothing() {
    let (_dir, index) = index_of(&[page("http://a.example/", "a b 東京", "c ab ก", Some("en"))]);
    assert_eq!(urls(&index, "-\"กc\" a"), ["http://a.example/"]);
    assert_eq!(urls(&index, "-\"a b\" a"), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_query_fails(
        queries in prop::collection::vec(
            "[-\"a-c東ก :*?(){}\\[\\]~^+|&]{0,30}|\\PC{0,30}", 20),
    ) {
        let (_dir, index) =
            index_of(&[page("http://a.example/", "a b 東京", "c ab ก", Some("en"))]);
        for query in queries {
            let results = index.search(in_a_minute(), &[], &query, 0, 10);
            prop_assert!(results.is_ok(), "{query:?}: {results:?}");
        }
    }

    #[test]
    fn a_page_is_found_by_its_words_and_by_its_text(
        words in prop::collection::vec("[a-zа-яα-ω0-9]{1,10}", 2..8),
    ) {
        let text = words.join(" ");
        // Words of the host are indexed, too: each part of the other host is longer than any of the
        // words.
        let other = page("http://anothercompany.anothercountry/", "", "-", None);
        let (_dir, index) = index_of(&[page("http://a.example/", "", &text, None), other]);
        let phrase = format!("\"{text}\"");
        for query in words.iter().map(String::as_str).chain([text.as_str(), &phrase]) {
            prop_assert_eq!(urls(&index, query), ["http://a.example/"], "{}", query);
        }
    }

    #[test]
    fn a_page_without_spaces_is_found_by_any_part(
        text in "[一-龥ぁ-んก-ฮ가-힣]{1,12}",
        from in 0_usize..12,
        length in 1_usize..12,
    ) {
        let part: String = text.chars().skip(from % text.chars().count()).take(length).collect();
        let (_dir, index) = index_of(&[page("http://a.example/", "", &text, None)]);
        for query in [format!("\"{part}\""), part] {
            let total = search(&index, &query, 0, 1).total;
            prop_assert_eq!(total, 1, "{} in {}", query, text);
        }
    }
}
