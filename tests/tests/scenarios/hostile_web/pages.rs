//! Pages that are hard to parse.

use super::Behaviour;
use super::script::{answer, every_page};

/// Nested elements of a page.
const DEPTH: usize = 100_000;

pub(super) fn behaviours(bulk: usize) -> Vec<Behaviour> {
    let large = |text: &str| text.repeat(bulk / text.len());
    let html = |name, body: String| typed(name, "text/html; charset=utf-8", body.as_bytes());
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    vec![
        html("nested elements", "<div>".repeat(DEPTH) + &"</div>".repeat(DEPTH)),
        html("nested tables", "<table><tr><td>".repeat(DEPTH)),
        html("nested links", "<a href=x>".repeat(DEPTH)),
        html("one giant attribute", format!("<a href='{}'>x</a>", large("x"))),
        html("one attribute that never ends", format!("<a title=\"{}", large("x"))),
        html("many attributes", format!("<p {}>x", large("a=1 "))),
        html("comment that never ends", format!("<!--{}", large("-"))),
        html("script that never ends", format!("<script>{}", large("</scrip"))),
        html("only opening brackets", large("<")),
        html("only references to characters", large("&amp;&#x41;&notanentity;")),
        html("one giant word", large("x")),
        html("one giant title", format!("<title>{}", large("word "))),
        typed("broken UTF-8", "text/html; charset=utf-8", &bytes),
        typed("broken UTF-16", "text/html; charset=utf-16", &bytes[1..]),
        typed("broken ISO-2022-JP", "text/html; charset=iso-2022-jp", &bytes),
        typed("broken GB18030", "text/html; charset=gb18030", &bytes),
        typed("charset that does not exist", "text/html; charset=klingon", &bytes),
        typed("bytes without a charset", "text/html", &bytes),
        typed("NUL bytes as text", "text/plain", &[0; 100_000]),
    ]
}

fn typed(name: &'static str, media_type: &str, body: &[u8]) -> Behaviour {
    let content_type = format!("content-type: {media_type}");
    // Some of them link to pages that are the same again.
    let reply = every_page(answer("200 OK", &[&content_type], body));
    Behaviour::page(name, "200", reply)
}
