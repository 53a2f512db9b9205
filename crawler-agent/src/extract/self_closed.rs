//! XHTML for readers of HTML, to which a slash does not end an element: all that follows an element
//! of raw text, such as `<script src="x"/>`, would be its text. So such elements get end tags.

use std::borrow::Cow;

use super::tokenizer::{Token, Tokenizer};

/// Adds end tags to a page as it arrives.
#[derive(Debug, Default)]
pub(super) struct SelfClosed {
    tokenizer: Tokenizer,
}

impl SelfClosed {
    /// The next piece of the page, with an end tag after each element of raw text that ended with
    /// its start tag.
    pub(super) fn with_end_tags<'h>(&mut self, html: &'h str) -> Cow<'h, str> {
        let mut closed = Vec::new();
        self.tokenizer.read_with_ends(html, |token, end| {
            let Token::Start { name, self_closing } = token else { return false };
            let Some(name) = name.of_raw() else { return false };
            if self_closing {
                closed.push((end, name));
            }
            !self_closing
        });
        if closed.is_empty() {
            return Cow::Borrowed(html);
        }
        let mut whole = String::new();
        let mut start = 0;
        for (end, name) in closed {
            whole.extend([&html[start..end], "</", name, ">"]);
            start = end;
        }
        whole.push_str(&html[start..]);
        Cow::Owned(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Document, Extractor, Media};

    fn extract(media_type: &str, page: &str) -> Document {
        let mut extractor = Extractor::new(Media::of(media_type).unwrap(), Some("utf-8"));
        extractor.write(page.as_bytes());
        extractor.finish()
    }

    #[test]
    fn what_follows_a_self_closed_element_is_read() {
        for element in
            ["script src='x' ", "style", "title", "textarea", "iframe src='/f'", "SCRIPT"]
        {
            let page = format!("<html><{element}/><p>text <a href='/x'>link</a></p></html>");
            let document = extract("application/xhtml+xml", &page);
            assert_eq!(document.text, "text link", "{element}");
            let links = document.references.iter().filter(|link| link.target == "/x");
            assert_eq!(links.count(), 1, "{element}");
        }
        let document = extract("text/html", "<p>a<script/>b</p>");
        assert_eq!(document.text, "a", "as in browsers");
    }

    #[test]
    fn nothing_else_is_changed_in_whatever_pieces_a_page_arrives() {
        let page = "<html><!-- <script/> --><title>T <b/></title><img alt=\"<script/>\"/>\
            <script>\"<style/>\"</script>\u{e4}<style type='a/'/><p/>< script/><script src=a/>x";
        let expected = "<html><!-- <script/> --><title>T <b/></title><img alt=\"<script/>\"/>\
            <script>\"<style/>\"</script>\u{e4}<style type='a/'/></style><p/>< script/>\
            <script src=a/>x";
        assert_eq!(SelfClosed::default().with_end_tags(page), expected);
        for size in 1..page.len() {
            let mut self_closed = SelfClosed::default();
            let mut whole = String::new();
            let mut rest = page;
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
                whole.push_str(&self_closed.with_end_tags(piece));
                rest = after;
            }
            assert_eq!(whole, expected, "pieces of {size}");
        }
    }
}
