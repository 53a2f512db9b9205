//! Sitemaps of plain text: one URL a line (the sitemap protocol, text files).

use super::{
    references::{Bound, References, Rel},
    url_list::{MAX_URLS, URL_BYTES, VALUE_BYTES, is_absolute},
};

/// Reads the URLs of a text as it arrives.
pub(super) struct UrlLines {
    /// The beginning of a line whose end has not arrived.
    line: String,
    references: References,
}

impl UrlLines {
    pub(super) fn new() -> Self {
        let most = Bound { count: MAX_URLS, bytes: URL_BYTES };
        Self { line: String::new(), references: References::new(most) }
    }

    /// Takes the next piece of text.
    pub(super) fn write(&mut self, text: &str) {
        for piece in text.split_inclusive(['\r', '\n']) {
            // A line that is longer than any URL is cut, and its rest is part of no URL.
            let room = (VALUE_BYTES + 1).saturating_sub(self.line.len());
            self.line.push_str(&piece[..piece.floor_char_boundary(room)]);
            if piece.ends_with(['\r', '\n']) {
                self.end_line();
            }
        }
    }

    /// Whether further text can have URLs.
    pub(super) fn wants_more(&self) -> bool {
        !self.references.is_full()
    }

    /// Memory of the list, in bytes.
    pub(super) fn held(&self) -> usize {
        self.line.capacity() + self.references.held()
    }

    pub(super) fn finish(mut self) -> References {
        self.end_line();
        self.references
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let url = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if line.len() <= VALUE_BYTES && is_absolute(url) {
            self.references.add(url.to_owned(), Rel::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(pieces: &[&str]) -> Vec<String> {
        let mut lines = UrlLines::new();
        for piece in pieces {
            lines.write(piece);
        }
        lines.finish().into_list().into_iter().map(|reference| reference.target).collect()
    }

    #[test]
    fn each_line_is_a_url() {
        let text = "\u{feff}http://e.org/a\r\n\n  https://e.org/b \nnot a URL\nhttp://e.org/c";
        let expected = ["http://e.org/a", "https://e.org/b", "http://e.org/c"];
        assert_eq!(urls(&[text]), expected);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(urls(&pieces), expected);
    }

    #[test]
    fn lines_and_their_number_are_bounded() {
        let long = format!("http://e.org/{}", "a".repeat(VALUE_BYTES));
        assert_eq!(urls(&[&long, &long, "\nhttp://e.org/b"]), ["http://e.org/b"]);
        let mut lines = UrlLines::new();
        lines.write(&"http://e.org/\n".repeat(MAX_URLS + 1));
        assert!(!lines.wants_more());
        assert_eq!(lines.finish().into_list().len(), MAX_URLS);
    }
}
