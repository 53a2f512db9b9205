//! Any text as a URL and as a link: what is accepted has one form, and is accepted again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{CrawlUrl, UnixMillis, traps::filter_of, traps::is_far_calendar};
use url::Url;

fuzz_target!(|text: &str| {
    let base = Url::parse("https://e.org/a/b?c").expect("a URL");
    for url in [CrawlUrl::parse(text), CrawlUrl::join(&base, text)].into_iter().flatten() {
        let again = CrawlUrl::parse(url.as_str()).expect("the normal form is a URL");
        assert_eq!(again, url);
        assert_eq!(again.fingerprint(), url.fingerprint());
        assert!(url.as_str().starts_with(url.host_key_str()));
        assert!(url.path_and_query().starts_with('/'));
        filter_of(url.path_and_query());
        is_far_calendar(url.path_and_query(), UnixMillis(0));
    }
});
