//! A simple crawler for the tests of the web. It shares no code with the generator, so that both
//! cannot have the same fault.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;

use encoding_rs::Encoding;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use texting_robots::Robot;
use url::Url;

use super::Web;

/// What it saw.
#[derive(Debug, Default)]
pub(crate) struct SeenPages {
    pub(crate) statuses: BTreeMap<String, u16>,
    pub(crate) forbidden: BTreeSet<String>,
    /// Decoded HTML by URL.
    pub(crate) documents: BTreeMap<String, String>,
}

/// Crawls from the seeds, one request at a time.
pub(crate) async fn crawl(web: &Web) -> SeenPages {
    let client = client(web);
    let mut robots: HashMap<String, Option<Robot>> = HashMap::new();
    let mut seen = SeenPages::default();
    let mut waiting: VecDeque<Url> = web.seeds().into();
    while let Some(url) = waiting.pop_front() {
        let name = url.host_str().unwrap().to_owned();
        if seen.statuses.contains_key(url.as_str()) || !web.names().contains_key(&name) {
            continue;
        }
        if !robots.contains_key(&name) {
            robots.insert(name.clone(), fetch_robots(&client, &url).await);
        }
        if robots[&name].as_ref().is_some_and(|robot| !robot.allowed(url.as_str())) {
            seen.forbidden.insert(url.to_string());
            continue;
        }
        let answer = client.get(url.clone()).send().await.unwrap();
        seen.statuses.insert(url.to_string(), answer.status().as_u16());
        waiting.extend(read(&url, answer, &mut seen).await);
    }
    seen
}

fn client(web: &Web) -> Client {
    // Another test of the process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder().no_proxy().redirect(Policy::none());
    for (name, addresses) in web.names() {
        let addresses: Vec<_> = addresses.into_iter().map(|a| SocketAddr::new(a, 0)).collect();
        builder = builder.resolve_to_addrs(&name, &addresses);
    }
    builder.build().unwrap()
}

async fn fetch_robots(client: &Client, url: &Url) -> Option<Robot> {
    let answer = client.get(url.join("/robots.txt").unwrap()).send().await.unwrap();
    let found = answer.status().is_success();
    let bytes = answer.bytes().await.unwrap();
    found.then(|| Robot::new("nearcrawl", &bytes).unwrap())
}

/// The links of an answer.
async fn read(url: &Url, answer: Response, seen: &mut SeenPages) -> Vec<Url> {
    let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    if answer.status().is_redirection() {
        return vec![url.join(&header(LOCATION).unwrap()).unwrap()];
    }
    let media_type = header(CONTENT_TYPE).unwrap();
    if !answer.status().is_success() || !media_type.starts_with("text/html") {
        return Vec::new();
    }
    let html = decode(&media_type, &answer.bytes().await.unwrap());
    let links = links(url, &html);
    seen.documents.insert(url.to_string(), html);
    links
}

/// Reads the bytes in the encoding that the header or the document names.
fn decode(media_type: &str, bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1_024)]).into_owned();
    let label = |text: &str| {
        let rest = text.split_once("charset=")?.1.trim_start_matches('"');
        Some(rest.split(['"', ';', '>', ' ']).next().unwrap().to_owned())
    };
    let label = label(media_type).or_else(|| label(&start)).unwrap();
    let (text, _, broken) = Encoding::for_label(label.as_bytes()).unwrap().decode(bytes);
    assert!(!broken, "a page is not in the encoding {label} that it names");
    text.into_owned()
}

/// All http links of a document, without comments and scripts.
fn links(url: &Url, html: &str) -> Vec<Url> {
    let html = without(&without(html, "<!-", "-->"), "<script", "</script>");
    let base = attribute(&html, "<base ", "href=")
        .map_or_else(|| url.clone(), |base| url.join(&base).unwrap());
    let anchors = html.match_indices('<').map(|(at, _)| &html[at..]);
    let anchors = anchors.filter(|tag| tag.starts_with("<a ") || tag.starts_with("<A "));
    let hrefs = anchors.filter_map(|tag| attribute(&tag[..tag.find('>').unwrap()], "<", "href="));
    let urls = hrefs.map(|href| base.join(&href).unwrap()).filter(|url| url.scheme() == "http");
    urls.map(|mut url| {
        url.set_fragment(None);
        url
    })
    .collect()
}

fn attribute(html: &str, tag: &str, name: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let tag = lower.find(tag)?;
    let value = &html[tag + lower[tag..].find(name)? + name.len()..];
    let quote = value.chars().next().unwrap();
    let value = &value[1..];
    Some(unescape(&value[..value.find(quote).unwrap()]))
}

fn without(html: &str, from: &str, to: &str) -> String {
    let mut parts = html.split(from);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once(to).map_or("", |(_, rest)| rest))
}

/// Named and numeric character references, as far as the web uses them.
pub(crate) fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |kept, part| {
        let (name, rest) = part.split_once(';').unwrap();
        let letter = match name {
            "amp" => '&',
            "quot" => '"',
            "lt" => '<',
            "nbsp" | "copy" | "eacute" | "raquo" | "rarr" => ' ',
            hex if hex.starts_with("#x") => {
                char::from_u32(u32::from_str_radix(&hex[2..], 16).unwrap()).unwrap()
            }
            number => char::from_u32(number[1..].parse().unwrap()).unwrap(),
        };
        format!("{kept}{letter}{rest}")
    })
}
