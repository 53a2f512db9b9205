use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{answer::Meaning, *};

fn allows(text: &str, path: &str) -> bool {
    Robots::parse(text.as_bytes()).allows(path)
}

#[test]
fn patterns_match_as_rfc_9309_and_its_examples_say() {
    for (pattern, matching, other) in [
        ("/", vec!["/", "/a", "/?q"], vec![]),
        (
            "/fish",
            vec!["/fish", "/fish.html", "/fish/salmon", "/fishheads", "/fish?id=1"],
            vec!["/Fish", "/catfish"],
        ),
        ("/fish*", vec!["/fish", "/fishheads/yummy"], vec!["/Fish.asp", "/desert/fish"]),
        ("/fish/", vec!["/fish/", "/fish/?id=1"], vec!["/fish", "/fish.html", "/animals/fish/"]),
        ("/*.php", vec!["/index.php", "/folder/f.php?x", "//f.php5"], vec!["/", "/windows.PHP"]),
        (
            "/*.php$",
            vec!["/f.php", "/a/f.php", "/.php.php"],
            vec!["/f.php?x", "/f.php/", "/f.php5", "/php"],
        ),
        ("/fish*.php", vec!["/fish.php", "/fishheads/catfish.php?x"], vec!["/Fish.PHP"]),
        ("/$", vec!["/"], vec!["/a", "/?q"]),
        ("/*", vec!["/", "/x"], vec![]),
        ("/**b**", vec!["/ab", "/b"], vec!["/a"]),
        ("*b", vec!["/ab"], vec!["/a"]),
        ("/a*a$", vec!["/aa", "/aba"], vec!["/a", "/ab"]),
        ("/a$b", vec!["/a$b", "/a$bc"], vec!["/a", "/ab"]),
        ("/a*", vec!["/a"], vec!["/"]),
        ("/ツ", vec!["/%E3%83%84", "/%e3%83%84x"], vec!["/%E3"]),
        ("/%e3%83%84", vec!["/%E3%83%84"], vec![]),
        ("/%7Ejoe/", vec!["/~joe/index.html", "/%7ejoe/x"], vec!["/joe/"]),
        ("/a%2fb", vec!["/a%2Fb"], vec!["/a/b"]),
        ("/a?b%26c", vec!["/a?b%26c"], vec!["/a?b&c"]),
        ("/*{", vec!["/a%7B", "/%7b1"], vec!["/a"]),
        ("/*\"", vec!["/a%22"], vec!["/a"]),
        ("/*?q='", vec!["/?q=%27x", "/a?q='x"], vec!["/?q=x"]),
        ("/*?filter[", vec!["/a?filter%5B0%5D=1", "/a?filter[0]=1"], vec!["/a?filter=1"]),
        ("/*?filter%5B", vec!["/a?filter%5B0%5D=1", "/a?filter[0]=1"], vec!["/a?filter=1"]),
        ("/path/foo-%24", vec!["/path/foo-$", "/path/foo-%24"], vec!["/path/foo-"]),
        ("/file-%2A", vec!["/file-*", "/file-%2a"], vec!["/file-x"]),
        ("/100%", vec!["/100%", "/100%25"], vec!["/100"]),
    ] {
        let text = format!("User-agent: *\nDisallow: {pattern}");
        for path in matching {
            assert!(!allows(&text, path), "{pattern} must match {path}");
        }
        for path in other {
            assert!(allows(&text, path), "{pattern} must not match {path}");
        }
    }
}

#[test]
fn the_longest_rule_decides_and_allow_wins_between_equals() {
    let text = "User-agent: *\nAllow: /p\nDisallow: /\nDisallow: /page.htm\nAllow: /page.htm\n\
                Allow: /$\nAllow: /folder\nDisallow: /folder/private\nAllow: /*.htm";
    for (path, allowed) in [
        ("/page", true),
        ("/page.htm", true),
        ("/x", false),
        ("/", true),
        ("/folder/page", true),
        ("/folder/private/x", false),
        ("/x.htm", true),
        ("/robots.txt", true),
    ] {
        assert_eq!(allows(text, path), allowed, "{path}");
    }
}

#[test]
fn own_groups_are_merged_and_replace_the_wildcard_group() {
    let text = "User-agent: *\nDisallow: /\n\nUser-Agent: NearCrawl\nDisallow: /a\n\
                \nuser-agent: other\nDisallow: /c\n\
                \nuser-agent: nearcrawl/2.0 (x)\nDisallow: /b";
    for (path, allowed) in [("/a", false), ("/b", false), ("/c", true), ("/", true)] {
        assert_eq!(allows(text, path), allowed, "{path}");
    }
}

#[test]
fn groups_start_and_end_where_they_should() {
    let shared = "User-agent: other\nUser-agent: nearcrawl\n\nDisallow: /a\n\
                  Sitemap: http://e.org/s\nDisallow: /b";
    assert!(!allows(shared, "/a") && !allows(shared, "/b"));
    let unlisted = "Disallow: /\nUser-agent: other\nDisallow: /";
    assert!(allows(unlisted, "/a"), "rules before any group, and of another agent");
    let with_delay = "User-agent: nearcrawl\nCrawl-delay: 3\nUser-agent: other\nDisallow: /a";
    assert!(!allows(with_delay, "/a"), "a delay is no rule, so both agents share the group");
    assert!(allows("User-agent: nearcrawler\nDisallow: /", "/a"), "another product");
    assert!(!allows("User-agent: nearcrawl-\nUser-agent: *\nDisallow: /", "/a"));
}

#[test]
fn lines_that_are_no_rules_are_skipped() {
    for text in [
        "",
        "<!doctype html><html><body>404: /</body></html>",
        "User-agent: *\nDisallow:",
        "User-agent: *\nDisallow: # everything\n",
        "User-agent: *\nDisallow /a",
        "User-agent: *\nDisallow: a\nDisallow: http://e.org/a",
        "\u{0}\u{1}\u{2}:::\n:\n#:\nallow",
    ] {
        assert!(allows(text, "/a"), "{text:?}");
    }
}

#[test]
fn irregular_bytes_and_line_ends_do_not_hide_rules() {
    for text in [
        "\u{feff}User-agent: *\nDisallow: /a",
        "user-agent:*\rdisallow:/a",
        "  USER-AGENT :  *  \r\n\r\n\t DISALLOW\t:\t/a   # no\r\n",
        "User-agent: *\nDisallow: /ab\u{fffd}\nDisallow: /a",
    ] {
        assert!(!allows(text, "/a"), "{text:?}");
    }
    assert!(!Robots::parse(b"User-agent: *\n\xff\xfe\nDisallow: /a").allows("/a"));
}

#[test]
fn delays_are_read_and_capped() {
    let delay = |value: &str| {
        Robots::parse(format!("User-agent: *\nCrawl-delay: {value}").as_bytes()).delay_ms()
    };
    assert_eq!(delay("2"), Some(2_000));
    assert_eq!(delay("0.25"), Some(250));
    assert_eq!(delay("86400"), Some(MAX_DELAY_MS));
    for invalid in ["", "soon", "-1", "NaN", "inf"] {
        assert_eq!(delay(invalid), None, "{invalid}");
    }
}

#[test]
fn only_the_first_512_kib_count() {
    let filler = "# filler\n".repeat(MAX_BYTES / 9 + 1);
    assert!(!allows(&format!("User-agent: *\nDisallow: /\n{filler}"), "/"));
    assert!(allows(&format!("{filler}User-agent: *\nDisallow: /"), "/"));
}

#[test]
fn a_line_that_is_cut_at_the_bound_is_no_rule() {
    for end in ["\n", "\r\n", "\r"] {
        let start = format!("User-agent: *{end}Disallow: /first{end}");
        let cut = "Disallow: /s";
        let filler = "#".repeat(MAX_BYTES - start.len() - end.len() - cut.len());
        let text = format!("{start}{filler}{end}{cut}");
        assert_eq!(text.len(), MAX_BYTES);
        assert!(allows(&format!("{text}earch/"), "/shop") && allows(&text, "/shop"), "{end:?}");
        assert!(!allows(&text, "/first"), "{end:?}");
    }
}

#[test]
fn a_file_full_of_stars_is_matched_in_linear_time() {
    let text =
        format!("User-agent: *\n{}", format!("Disallow: /{}b\n", "*a".repeat(2_000)).repeat(128));
    let robots = Robots::parse(text.as_bytes());
    let path = format!("/{}", "a".repeat(2_000));
    let started = Instant::now();
    assert!(robots.allows(&path));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn answers_mean_what_the_rfc_says() {
    let of = |status, location, hops| {
        answer::meaning(status, location, b"User-agent: *\nDisallow: /", hops)
    };
    let Meaning::Rules(rules) = of(200, None, 0) else { panic!("200 brings rules") };
    assert!(!rules.allows("/a"));
    for missing in [304, 400, 401, 403, 404, 410, 451] {
        assert_eq!(of(missing, None, 0), Meaning::Rules(Robots::allow_all()), "{missing}");
    }
    for unreachable in [202, 418, 420, 429, 430, 500, 503, 599] {
        assert!(matches!(of(unreachable, None, 0), Meaning::Unreachable(_)), "{unreachable}");
    }
    assert_eq!(of(301, Some("/r"), 4), Meaning::Moved("/r".into()));
    assert_eq!(of(301, Some("/r"), 5), Meaning::Rules(Robots::allow_all()));
    assert_eq!(of(302, None, 0), Meaning::Rules(Robots::allow_all()));
}

/// A backtracking matcher, right by inspection and slow.
fn naive(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skip| naive(rest, &path[skip..])),
        [first, rest @ ..] => path.first() == Some(first) && naive(rest, &path[1..]),
    }
}

#[test]
fn sitemaps_are_named_in_any_group() {
    let text = "Sitemap: https://e.org/a.xml#top\nUser-agent: other\nDisallow: /\nSITEMAP : http://o.org/b\n\
                User-agent: *\nSitemap: /relative\nSitemap: ftp://e.org/c\nDisallow: /p\n\
                Sitemap: https://e.org/a.xml # again\n";
    let mut robots = Robots::parse(text.as_bytes());
    let sitemaps = robots.take_sitemaps();
    let sitemaps: Vec<&str> = sitemaps.iter().map(CrawlUrl::as_str).collect();
    assert_eq!(sitemaps, ["https://e.org/a.xml", "http://o.org/b"]);
    assert!(!robots.allows("/p") && robots.allows("/q"), "they are no rules");
    let count = |lines: usize, path: &str| {
        let line = |n| format!("Sitemap: https://e.org/{path}{n:04}\n");
        let text = (0..lines).map(line).collect::<Vec<_>>().concat();
        Robots::parse(text.as_bytes()).take_sitemaps().len()
    };
    assert_eq!([count(200, ""), count(600, "")], [200, 500]);
    let long = "x".repeat(2_028);
    assert_eq!(count(100, &long), 32, "64 KiB of 2 KiB each");
    assert!(Robots::allow_all().take_sitemaps().is_empty());
}

proptest! {
    #[test]
    fn the_matcher_agrees_with_a_naive_one(pattern in "/[ab*]{0,8}\\$?", path in "/[ab]{0,8}") {
        let expected = naive(pattern.as_bytes(), path.as_bytes());
        prop_assert_eq!(Pattern::new(&pattern).matches(&path), expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<Vec<u8>>(), path in "\\PC{0,20}") {
        Robots::parse(&text).allows(&path);
    }
}

#[test]
fn too_many_costly_rules_forbid_more_and_allow_nothing() {
    let file = |rules: &str, count: usize| format!("User-agent: *\n{}", rules.repeat(count));
    let few = file("Disallow: /p/*a*b\n", 2_000);
    assert!(!allows(&few, "/p/xaxb"));
    assert!(allows(&few, "/p/x"));
    let others = format!("User-agent: other\n{}{few}", "Disallow: /*a*b\n".repeat(9_000));
    assert!(allows(&others, "/p/x"), "rules for others do not count");
    let many = file("Disallow: /p/*a*b\n", 2_001);
    assert!(!allows(&many, "/p/x"));
    assert!(allows(&many, "/q/xaxb"));
    let any_start = file("Disallow: *a*b\n", 2_001);
    assert!(!allows(&any_start, "/q"));
    let allowing = format!("{many}Allow: /p/*x\n");
    assert!(!allows(&allowing, "/p/x"));
    let shorter = format!("{many}Allow: /p/xa\n");
    assert!(!allows(&shorter, "/p/xaxb"), "the length that was written decides");
    let cheap = format!("{few}{}", "Disallow: /q/*\n".repeat(9_000));
    assert!(allows(&cheap, "/p/x"), "a star at the end costs nothing");
}

/// A character of a path, whether the rule has it escaped, and whether the URL has.
fn character() -> impl Strategy<Value = (char, bool, bool)> {
    let characters: Vec<char> = "ab1-_~.[]{}()<>|^`\"'!,:@$* é".chars().collect();
    (prop::sample::select(characters), any::<bool>(), any::<bool>())
}

fn written(c: char, is_escaped: bool) -> String {
    let mut bytes = [0; 4];
    let bytes = c.encode_utf8(&mut bytes);
    let escape = |byte| format!("%{byte:02x}");
    if is_escaped { bytes.bytes().map(escape).collect() } else { bytes.to_owned() }
}

proptest! {
    #[test]
    fn an_escape_matches_its_character(
        text in prop::collection::vec(character(), 0..20),
        is_query in any::<bool>(),
    ) {
        let start = if is_query { "/p?q=" } else { "/p" };
        // A star or a final dollar sign of a rule is more than a character unless it is escaped.
        let in_rule = |(c, escaped, _): &(char, bool, bool)| {
            written(*c, *escaped || matches!(c, '*' | '$' | ' '))
        };
        let rule: String = text.iter().map(in_rule).collect();
        let path: String = text.iter().map(|(c, _, escaped)| written(*c, *escaped)).collect();
        let url = CrawlUrl::parse(&format!("http://e.org{start}{path}z")).unwrap();
        let rules = format!("User-agent: *\nDisallow: {start}{rule}z$");
        prop_assert!(!allows(&rules, url.path_and_query()), "{rules} {url}");
        let other = format!("User-agent: *\nDisallow: {start}{rule}y$");
        prop_assert!(allows(&other, url.path_and_query()), "{other} {url}");
    }
}
