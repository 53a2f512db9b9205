//! robots.txt in several dialects (RFC 9309), and the paths that each forbids to nearcrawl.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// The product token of the crawler under test.
pub(super) const CRAWLER: &str = "nearcrawl";

/// How a host says what may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// One group for all, with comments.
    Plain,
    /// `Allow` inside what is disallowed: the longest match wins.
    Exception,
    /// `*` and `$` in rules.
    Wildcards,
    /// A group for our crawler beside one that forbids everything to the others.
    Personal,
    /// Byte order mark, CRLF, odd spacing and case, unknown lines, two groups that are to be
    /// merged.
    Untidy,
    /// An empty file: all is allowed.
    Empty,
    /// There is none (404): all is allowed.
    Missing,
}

/// The robots.txt of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Robots {
    pub(super) dialect: Dialect,
    /// `Crawl-delay`, in seconds.
    pub(super) crawl_delay_s: Option<u32>,
}

impl Robots {
    /// Draws a dialect; most hosts have a plain file.
    pub(super) fn draw(random_streams: &mut ChaCha8Rng) -> Self {
        let dialect = match random_streams.random_range(0..20) {
            0..7 => Dialect::Plain,
            7..10 => Dialect::Exception,
            10..13 => Dialect::Wildcards,
            13..15 => Dialect::Personal,
            15..17 => Dialect::Untidy,
            17 => Dialect::Empty,
            _ => Dialect::Missing,
        };
        Self { dialect, crawl_delay_s: None }
    }

    /// The file; none when the host has none.
    pub(super) fn text(&self, origin: &str) -> Option<String> {
        let delay = self.crawl_delay_s.map(|s| format!("Crawl-delay: {s}\n")).unwrap_or_default();
        let map = format!("\nSitemap: {origin}/sitemap.xml\n");
        let all = format!("User-agent: *\n{delay}");
        let text = match self.dialect {
            Dialect::Plain => {
                format!("# Be kind.\n{all}Disallow: /private/\nDisallow: /tmp\n{map}")
            }
            Dialect::Exception => format!("{all}Disallow: /private/\nAllow: /private/open/\n{map}"),
            Dialect::Wildcards => format!("{all}Disallow: /*?session=\nDisallow: /*.bak$\n{map}"),
            Dialect::Personal => format!(
                "User-agent: otherbot\nUser-agent: {CRAWLER}\n{delay}Disallow: \
                 /not-for-{CRAWLER}/\n\n\
                 User-agent: *\nDisallow: /\n{map}"
            ),
            Dialect::Untidy => untidy(&delay),
            Dialect::Empty => delay_only(&delay),
            Dialect::Missing => return None,
        };
        Some(text)
    }

    /// The path of a page that this file forbids; none when it forbids nothing.
    pub(super) fn forbidden(&self, word: &str) -> Option<String> {
        match self.dialect {
            Dialect::Plain | Dialect::Exception => Some(format!("/private/{word}.html")),
            Dialect::Wildcards if word.starts_with(['b', 'd', 'f', 'g', 'h', 'j', 'l', 'm']) => {
                Some(format!("/{word}.bak"))
            }
            Dialect::Wildcards => Some(format!("/{word}?session=8f2c")),
            Dialect::Personal => Some(format!("/not-for-{CRAWLER}/{word}.html")),
            Dialect::Untidy => Some(format!("/Drafts/{word}.html")),
            Dialect::Empty | Dialect::Missing => None,
        }
    }

    /// The path of a page that looks forbidden to a careless reader, but is not; none where that
    /// cannot be.
    pub(super) fn allowed_all_the_same(&self, word: &str) -> Option<String> {
        match self.dialect {
            Dialect::Plain => Some(format!("/privately/{word}.html")),
            Dialect::Exception => Some(format!("/private/open/{word}.html")),
            Dialect::Wildcards => Some(format!("/{word}.bak.html")),
            Dialect::Personal => Some(format!("/not-for-others/{word}.html")),
            Dialect::Untidy => Some(format!("/drafts/{word}.html")),
            Dialect::Empty | Dialect::Missing => None,
        }
    }
}

fn untidy(delay: &str) -> String {
    let text = format!(
        "\u{feff}# made by hand\nNoise: yes\nuser-agent : *   # \
         everybody\n{delay}DISALLOW:/Drafts/\n\n\
         User-Agent: somebody-else\nDisallow: /\n\nUSER-AGENT: *\ndisallow:   /attic   \n"
    );
    text.replace('\n', "\r\n")
}

fn delay_only(delay: &str) -> String {
    if delay.is_empty() { String::new() } else { format!("User-agent: *\n{delay}") }
}
