//! `extract`: shows what the agent would take from a page.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use model::CrawlUrl;
use protocol::page::Link;
use serde::Serialize;

use super::{print_line, read_input};
use crate::{
    clock,
    extract::{Document, Extractor, Links, Media, directives::Directives},
    fetch,
};

#[derive(Debug, Args)]
pub(super) struct ExtractArgs {
    /// The page, without content encoding; `-` for standard input.
    file: PathBuf,
    /// URL of the page, from which relative links are resolved.
    #[arg(long)]
    url: String,
    /// Content-Type header of the page.
    #[arg(long, value_name = "TYPE", default_value = "text/html")]
    content_type: String,
    /// Prints one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// What is printed about a page.
#[derive(Debug, Serialize)]
struct Extract {
    title: String,
    lang: Option<String>,
    charset: &'static str,
    noindex: bool,
    nofollow: bool,
    max_snippet: Option<u32>,
    headings: Vec<String>,
    text: String,
    canonical: Option<String>,
    links: Vec<Link>,
}

pub(super) fn print(arguments: &ExtractArgs) -> anyhow::Result<ExitCode> {
    let ExtractArgs { file, url, content_type, json } = arguments;
    let url = CrawlUrl::parse(url).map_err(|error| anyhow::anyhow!("--url {url}: {error}"))?;
    let bytes = read_input(file)?;
    let Some(document) = document(content_type, &bytes, &url) else {
        anyhow::bail!(
            "--content-type {content_type}: only HTML, plain text, sitemaps and feeds are read"
        );
    };
    let extract = extract(document, &url);
    print_line(&if *json { serde_json::to_string_pretty(&extract)? } else { text(&extract) });
    Ok(ExitCode::SUCCESS)
}

fn document(content_type: &str, bytes: &[u8], url: &CrawlUrl) -> Option<Document> {
    let media = fetch::media_type(content_type).as_deref().and_then(Media::of)?;
    let charset = fetch::charset(content_type);
    let mut extractor = Extractor::new(media, charset.as_deref()).of_url(url.url());
    extractor.write(bytes);
    Some(extractor.finish())
}

fn extract(mut document: Document, url: &CrawlUrl) -> Extract {
    let Links { canonical, found } = document.take_links(url.url());
    let canonical = canonical.map(String::from);
    let links = found.into_iter().map(Link::from).collect();
    let Document { charset, lang, title, headings, text, directives, .. } = document;
    let noindex = directives.forbid_indexing(clock::now());
    let Directives { nofollow, max_snippet, .. } = directives;
    let headings = headings.lines().map(str::to_owned).collect();
    Extract {
        title,
        lang,
        charset,
        noindex,
        nofollow,
        max_snippet,
        headings,
        text,
        canonical,
        links,
    }
}

fn text(extract: &Extract) -> String {
    let Extract { title, charset, noindex, nofollow, headings, text, canonical, links, .. } =
        extract;
    let lang = extract.lang.as_deref().unwrap_or("unknown");
    let yes_no = |value: &bool| if *value { "yes" } else { "no" };
    let mut lines = vec![
        format!("title:    {title}"),
        format!("language: {lang}"),
        format!("charset:  {charset}"),
        format!("noindex:  {}", yes_no(noindex)),
        format!("nofollow: {}", yes_no(nofollow)),
    ];
    lines.extend(extract.max_snippet.map(|most| format!("snippet:  {most} characters")));
    lines.extend(canonical.iter().map(|url| format!("canonical: {url}")));
    lines.push(format!("headings: {}", headings.len()));
    lines.extend(headings.iter().map(|heading| format!("  {heading}")));
    lines.push(format!("links:    {}", links.len()));
    lines.extend(links.iter().map(link_line));
    lines.push(format!("text:     {} bytes\n{text}", text.len()));
    lines.join("\n")
}

fn link_line(link: &Link) -> String {
    let Link { url, anchor, nofollow, ugc, sponsored } = link;
    let words = [(*nofollow, "nofollow"), (*ugc, "ugc"), (*sponsored, "sponsored")];
    let words = words.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word);
    let rel = words.fold(String::new(), |line, word| line + " " + word);
    if anchor.is_empty() { format!("  {url}{rel}") } else { format!("  {url} “{anchor}”{rel}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_with_what_the_agent_takes() {
        let html = b"<title>A \xe4</title><meta name=robots content='noindex,nosnippet'>\
            <h2>H</h2><p>Text <a href=b>b</a>";
        let url = CrawlUrl::parse("http://e.org/a/").unwrap();
        let document = document("text/html; charset=iso-8859-1", html, &url).unwrap();
        let shown = text(&extract(document, &url));
        for line in [
            "title:    A \u{e4}\n",
            "noindex:  yes\n",
            "snippet:  0 characters\n",
            "headings: 1\n  H\n",
            "\n  http://e.org/a/b \u{201c}b\u{201d}\n",
            "\nH Text b",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        assert!(super::document("image/png", html, &url).is_none());
    }
}
