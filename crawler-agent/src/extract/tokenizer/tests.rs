use std::cell::RefCell;

use lol_html::{HtmlRewriter, Settings, doc_text, element};
use proptest::prelude::*;

use super::{super::elements::OpenElements, *};

/// A token as the tests compare it: names by the text that they are the number of.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Start(Name),
}

/// Adds text to the text before it, because pieces of text may be cut anywhere.
fn add_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(before)) => before.push_str(text),
        _ if text.is_empty() => {}
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// Text and start tags by the tokenizer.
fn parts<'h>(pieces: impl IntoIterator<Item = &'h str>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open = OpenElements::default();
    let mut tokenizer = Tokenizer::default();
    let mut take = |token: Token<'_>| match token {
        Token::Text(text) => {
            add_text(&mut parts, text);
            false
        }
        Token::Start { name, self_closing } => {
            parts.push(Part::Start(name));
            open.start(name, self_closing)
        }
        Token::End(_) | Token::Comment => false,
    };
    for piece in pieces {
        tokenizer.read(piece, &mut take);
        assert!(tokenizer.undecided.len() < NAME_BYTES + 2, "{}", tokenizer.undecided);
    }
    tokenizer.finish(take);
    parts
}

/// Text and start tags by lol_html.
fn parts_of_parser(html: &str) -> Vec<Part> {
    let parts = RefCell::new(Vec::new());
    let settings = Settings::new()
        .with_strict(false)
        .append_element_content_handler(element!("*", |element| {
            parts.borrow_mut().push(Part::Start(Name::of(element.tag_name().as_bytes())));
            Ok(())
        }))
        .append_document_content_handler(doc_text!(|chunk| {
            add_text(&mut parts.borrow_mut(), chunk.as_str());
            Ok(())
        }));
    let mut parser = HtmlRewriter::new(settings, |_: &[u8]| {});
    parser.write(html.as_bytes()).unwrap();
    parser.end().unwrap();
    parts.into_inner()
}

#[test]
fn names_are_cut_where_they_are_too_long() {
    let long = "x".repeat(3 * NAME_BYTES);
    let name = Name::of(&long.as_bytes()[..NAME_BYTES]);
    let tag = format!("<{long} y>z");
    assert_eq!(parts([tag.as_str()]), [Part::Start(name), Part::Text("z".into())]);
    assert_eq!(parts(tag.split_inclusive('x')), parts([tag.as_str()]));
    for shift in ["a", "aa"] {
        let tag = format!("<{shift}{}>z", "é".repeat(NAME_BYTES));
        assert_eq!(parts([tag.as_str()]).last(), Some(&Part::Text("z".into())));
        assert_eq!(parts(tag.split_inclusive('é')), parts([tag.as_str()]));
    }
}

#[test]
fn a_title_keeps_what_only_begins_like_its_end() {
    let text = |html: &str| parts([html]).pop();
    for rest in ["a < b", "a </b> c", "a </titles> b", "a </tit", "a <!-- b", "<"] {
        let html = format!("<title>{rest}");
        assert_eq!(text(&html), Some(Part::Text(rest.into())), "{html}");
    }
}

/// Parts of HTML that make tokens of all kinds, also where they are cut or do not fit.
const PIECES: &str = "<|</|<!|>|/>|/|-|--|!|?|=| = |'|\"| |\n|a|p|x y|é|&amp;|<p|<a href=|<b>|</b>|\
    <i title='|<!--|-->|--!>|<!-|->|<!doctype html>|<?xml|<script>|</script>|<script|</script|\
    SCRIPT>|<style>|</style>|<title>|</title>|<Title |</TITLE\t|<textarea>|</textarea/>|\
    <noscript>|</noscript>|<xmp>|</xmp >|<br/>|<x-element a=\"<p>\" b=c>";

/// HTML of these parts, without tags that end after the `=` of an attribute: behind them lol_html
/// takes raw text for markup.
fn html() -> impl Strategy<Value = String> {
    let pieces: Vec<&str> = PIECES.split('|').collect();
    prop::collection::vec(prop::sample::select(pieces), 0..40)
        .prop_map(|pieces| pieces.concat())
        .prop_filter("an attribute without its value", |html| {
            !html.replace([' ', '\n'], "").contains("=>")
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The tokens are those that lol_html finds where it reads every tag.
    #[test]
    fn tokens_are_those_of_the_parser(html in html()) {
        prop_assert_eq!(parts([html.as_str()]), parts_of_parser(&html));
    }

    #[test]
    fn tokens_do_not_depend_on_pieces(html in html()) {
        let characters: Vec<String> = html.chars().map(String::from).collect();
        prop_assert_eq!(parts(characters.iter().map(String::as_str)), parts([html.as_str()]));
    }
}
