//! `robots`: shows what a robots.txt means for URLs.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use model::CrawlUrl;
use serde::Serialize;

use super::{NO, print_line, read_input};
use crate::robots::{Robots, TOKEN};

#[derive(Debug, Args)]
pub(super) struct RobotsArgs {
    /// The robots.txt; `-` for standard input.
    file: PathBuf,
    /// Product token of the crawler.
    #[arg(long, value_name = "NAME", default_value = TOKEN)]
    agent: String,
    /// URLs of the host that has this robots.txt.
    #[arg(required = true, value_parser = url)]
    urls: Vec<CrawlUrl>,
    /// Prints a JSON document for each URL.
    #[arg(long)]
    json: bool,
}

fn url(text: &str) -> Result<CrawlUrl, String> {
    CrawlUrl::parse(text).map_err(|error| error.to_string())
}

/// What is printed about a URL.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Verdict {
    url: String,
    allowed: bool,
    /// The rule that decides; none where no rule matches.
    rule: Option<String>,
    /// Crawl-delay as it is obeyed, in milliseconds.
    delay_ms: Option<u32>,
}

pub(super) fn print(arguments: &RobotsArgs) -> anyhow::Result<ExitCode> {
    let robots = Robots::parse_for(&arguments.agent, &read_input(&arguments.file)?);
    let mut all = true;
    for url in &arguments.urls {
        let verdict = verdict(&robots, url);
        all &= verdict.allowed;
        print_line(&if arguments.json { serde_json::to_string(&verdict)? } else { line(&verdict) });
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

fn verdict(robots: &Robots, url: &CrawlUrl) -> Verdict {
    Verdict {
        url: url.to_string(),
        allowed: robots.allows(url.path_and_query()),
        rule: robots.deciding_rule(url.path_and_query()).map(ToString::to_string),
        delay_ms: robots.delay_ms(),
    }
}

fn line(verdict: &Verdict) -> String {
    let Verdict { url, allowed, rule, delay_ms } = verdict;
    let word = if *allowed { "allowed   " } else { "disallowed" };
    let rule = rule.as_deref().unwrap_or("no rule matches");
    let delay = delay_ms.map_or_else(String::new, |ms| format!("; crawl-delay {ms} ms"));
    format!("{word}  {url} ({rule}{delay})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"User-agent: *\nDisallow: /\n\nUser-agent: nearcrawl\nDisallow: /a\n\
        Allow: /a/b\nCrawl-delay: 2\n";

    fn lines(token: &str, urls: &[&str]) -> Vec<String> {
        let robots = Robots::parse_for(token, TEXT);
        urls.iter().map(|text| line(&verdict(&robots, &url(text).unwrap()))).collect()
    }

    #[test]
    fn the_longest_rule_of_the_crawlers_group_is_named() {
        let urls = ["http://e.org/a/x", "http://e.org/a/b/c", "http://e.org/robots.txt"];
        let expected = [
            "disallowed  http://e.org/a/x (Disallow: /a; crawl-delay 2000 ms)",
            "allowed     http://e.org/a/b/c (Allow: /a/b; crawl-delay 2000 ms)",
            "allowed     http://e.org/robots.txt (no rule matches; crawl-delay 2000 ms)",
        ];
        assert_eq!(lines(TOKEN, &urls), expected);
        assert_eq!(
            lines("other", &["http://e.org/x"]),
            ["disallowed  http://e.org/x (Disallow: /)"]
        );
    }
}
