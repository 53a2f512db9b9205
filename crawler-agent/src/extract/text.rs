//! Text as a reader sees it: white space folded, nothing invisible, bounded.

/// Text that is being put together.
#[derive(Debug, Default)]
pub(super) struct Folded {
    text: String,
    most: usize,
    /// White space was seen since the last visible character.
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

    /// What follows is not the same word.
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

/// Controls, soft hyphens, zero-width spaces and byte order marks are not. Joiners are: scripts
/// need them.
fn is_visible(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}')
}
