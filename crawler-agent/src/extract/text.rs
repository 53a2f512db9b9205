//! Visible text: white space folded, invisible characters removed, length bounded.

/// Text that is being built.
#[derive(Debug, Default)]
pub(super) struct CollapsedText {
    text: String,
    most: usize,
    /// Whether white space followed the last visible character.
    gap: bool,
}

impl CollapsedText {
    /// Text of at most `most` bytes; what comes later is dropped.
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), most, gap: false }
    }

    pub(super) fn push(&mut self, piece: &str) {
        let mut rest = piece;
        loop {
            // Nearly all text is words of characters that are taken as they are.
            let word = rest.len() - rest.trim_start_matches(is_plain).len();
            let Some(c) = rest[word..].chars().next() else {
                self.push_word(rest);
                return;
            };
            self.push_word(&rest[..word]);
            if c.is_whitespace() {
                self.gap = true;
            }
            rest = &rest[word + c.len_utf8()..];
        }
    }

    /// Ends the current word.
    pub(super) fn break_word(&mut self) {
        self.gap = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Memory of the text, in bytes.
    pub(super) fn capacity(&self) -> usize {
        self.text.capacity()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }

    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let separated = self.gap && !self.text.is_empty();
        let room = self.most.saturating_sub(self.text.len() + usize::from(separated));
        let end = word.floor_char_boundary(room);
        if end < word.len() {
            // Nothing may follow: a later, shorter word would leave a gap in the text.
            self.most = 0;
        }
        if end > 0 {
            if separated {
                self.text.push(' ');
            }
            self.text.push_str(&word[..end]);
            self.gap = false;
        }
    }
}

/// Whether a character is visible and no white space.
fn is_plain(c: char) -> bool {
    c.is_ascii_graphic() || (!c.is_ascii() && !c.is_whitespace() && is_visible(c))
}

/// Whether a character is part of the visible text: not controls, soft hyphens, zero-width spaces
/// and byte order marks. Joiners stay, because some scripts need them.
fn is_visible(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}')
}
