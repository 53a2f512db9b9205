//! Visible text: white space folded, invisible characters removed, length bounded.

/// Text that is being built.
#[derive(Debug, Default)]
pub(super) struct Folded {
    text: String,
    most: usize,
    /// Whether white space followed the last visible character.
    gap: bool,
}

impl Folded {
    /// Text of at most `most` bytes; what comes later is dropped.
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), most, gap: false }
    }

    pub(super) fn push(&mut self, piece: &str) {
        for c in piece.chars() {
            if c.is_whitespace() {
                self.gap = true;
            } else if is_visible(c) && !self.push_char(c) {
                return;
            }
        }
    }

    /// Ends the current word.
    pub(super) fn break_word(&mut self) {
        self.gap = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }

    fn push_char(&mut self, c: char) -> bool {
        if self.text.len() + c.len_utf8() + 1 > self.most {
            // Nothing may follow: a later, shorter character would leave a gap in the text.
            self.most = 0;
            return false;
        }
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
        self.text.push(c);
        true
    }
}

/// Whether a character is part of the visible text: not controls, soft hyphens, zero-width spaces
/// and byte order marks. Joiners stay, because some scripts need them.
fn is_visible(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}')
}
