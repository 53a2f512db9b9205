//! HTML of a page. Text is about an eighth of it, as on real pages of this size; the rest is
//! markup, most of which the pages of a host share.

use std::fmt::Write as _;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::links::{links, stream};
use super::words::Vocabulary;
use super::{FORBIDDEN, path};

/// Size of a page in bytes, at least.
const SIZE: usize = 6_900;

/// Bytes that the foot of a page takes.
const FOOT: usize = 150;

/// The HTML of a page of a host with `pages` pages.
pub(super) fn html(vocabulary: &Vocabulary, host: u32, page: u32, pages: u32) -> String {
    let mut random = stream(host, page, 2);
    let title = capitalised(&phrase(vocabulary, &mut random, 4));
    let mut out = String::with_capacity(SIZE + 500);
    head(&mut out, host, page, &title);
    for _ in 0..3 {
        paragraph(&mut out, vocabulary, &mut random);
    }
    let links = links(host, page, pages);
    out.push_str("<section class=\"grid grid--contents\" aria-label=\"Contents\">\n");
    for target in links.children.chain(links.cross) {
        let label = phrase(vocabulary, &mut random, 2);
        card(&mut out, &mut random, &path(target), &label);
    }
    while out.len() < SIZE - FOOT {
        icon(&mut out, &mut random);
    }
    out.push_str("</section>\n");
    foot(&mut out, host, page);
    out
}

/// Everything up to the text: metadata, style and script of the host, and its navigation.
fn head(out: &mut String, host: u32, page: u32, title: &str) {
    let colour = host.wrapping_mul(0x9E37_79B1) >> 8;
    write_to(
        out,
        format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <title>{title}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:type\" content=\"article\">\n"
        ),
    );
    out.push_str(STYLE);
    write_to(out, format_args!("<style>:root{{--brand:#{colour:06x}}}</style>\n<script>"));
    out.push_str(SCRIPT);
    write_to(
        out,
        format_args!(
            "measure({host},{page});</script>\n</head>\n<body class=\"page page--article\">\n\
             <header class=\"site-header\"><nav class=\"site-nav\" role=\"navigation\">\
             <a class=\"site-nav__item\" href=\"/\">Home</a></nav></header>\n\
             <main class=\"content\" id=\"content\">\n<h1 class=\"headline\">{title}</h1>\n"
        ),
    );
}

/// Some sentences, about 300 bytes.
fn paragraph(out: &mut String, vocabulary: &Vocabulary, random: &mut ChaCha8Rng) {
    out.push_str("<p class=\"text text--body\">");
    for _ in 0..4 {
        let words = random.random_range(8..15);
        out.push_str(&capitalised(&phrase(vocabulary, random, words)));
        out.push_str(". ");
    }
    out.push_str("</p>\n");
}

/// A link with the markup that page builders put around one.
fn card(out: &mut String, random: &mut ChaCha8Rng, target: &str, label: &str) {
    let id: u32 = random.random();
    write_to(
        out,
        format_args!(
            "<div class=\"grid__cell\"><article class=\"card card--link\" id=\"c-{id:08x}\">\
             <a class=\"card__link\" href=\"{target}\"><span class=\"card__title\">{label}\
             </span></a></article></div>\n"
        ),
    );
}

/// A drawing, which a crawler reads but does not keep.
fn icon(out: &mut String, random: &mut ChaCha8Rng) {
    let mut at = || random.random_range(0..24);
    write_to(
        out,
        format_args!(
            "<svg class=\"icon icon--small\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
             <path d=\"M{} {}h{}v{}L{} {}z\"/></svg>\n",
            at(),
            at(),
            at(),
            at(),
            at(),
            at()
        ),
    );
}

/// The root also links to the page that robots.txt forbids.
fn foot(out: &mut String, host: u32, page: u32) {
    out.push_str("</main>\n<footer class=\"site-footer\">\n");
    if page == 0 {
        write_to(out, format_args!("<a href=\"{FORBIDDEN}\">Members</a>\n"));
    }
    write_to(out, format_args!("<p>Host {host}, page {page}.</p>\n</footer>\n</body>\n</html>\n"));
}

fn phrase(vocabulary: &Vocabulary, random: &mut ChaCha8Rng, words: usize) -> String {
    let mut text = String::with_capacity(words * 8);
    for number in 0..words {
        if number > 0 {
            text.push(' ');
        }
        text.push_str(vocabulary.draw(random));
    }
    text
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writing to a string cannot fail.
fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

const STYLE: &str = "<style>\n\
    *,*::before,*::after{box-sizing:border-box}body{margin:0;font:16px/1.6 system-ui,sans-serif}\n\
    .site-header{position:sticky;top:0;display:flex;padding:1rem;background:var(--brand)}\n\
    .site-nav__item{color:#fff;text-decoration:none;margin-right:1.5rem;font-weight:600}\n\
    .content{max-width:48rem;margin:2rem auto;padding:0 1rem}.headline{font-size:2rem}\n\
    .text--body{color:#222;hyphens:auto}.grid{display:grid;gap:1rem;grid-template-columns:\n\
    repeat(auto-fill,minmax(12rem,1fr))}.card{border:1px solid #ddd;border-radius:.5rem}\n\
    .card__link{display:block;padding:1rem;color:inherit}.card__title{font-weight:500}\n\
    .icon--small{width:1.5rem;height:1.5rem;fill:var(--brand)}\n\
    @media (max-width:40rem){.grid{grid-template-columns:1fr}.headline{font-size:1.5rem}}\n\
    </style>\n";

const SCRIPT: &str = "\n\
    function measure(host,page){var queue=window.queue=window.queue||[];queue.push({host:host,\n\
    page:page,width:window.innerWidth,at:Date.now()});if(document.visibilityState==='hidden'){\n\
    return}document.addEventListener('DOMContentLoaded',function(){var cards=document\n\
    .querySelectorAll('.card__link');cards.forEach(function(card,index){card.addEventListener(\n\
    'click',function(){queue.push({host:host,page:page,card:index})})})})}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_about_the_size_and_compress_like_real_ones() {
        let vocabulary = Vocabulary::new();
        for page in [0, 1, 150] {
            let html = html(&vocabulary, 4, page, 200);
            assert!((SIZE - 200..SIZE + 400).contains(&html.len()), "{} bytes", html.len());
            let packed = super::super::answer::gzip(html.as_bytes()).unwrap();
            let ratio = html.len() as f64 / packed.len() as f64;
            assert!((2.5..5.0).contains(&ratio), "{ratio}");
        }
    }
}
