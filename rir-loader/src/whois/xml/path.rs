//! The open elements, the document's own first.

use quick_xml::errors::IllFormedError;

use super::element::Element;

/// Names end to end in one allocation, so that opening an element allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Path {
    names: Vec<u8>,
    levels: Vec<Level>,
}

#[derive(Debug, Clone, Copy)]
struct Level {
    start: usize,
    element: Element,
}

impl Path {
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The innermost element.
    pub(super) fn element(&self) -> Option<Element> {
        self.levels.last().map(|level| level.element)
    }

    /// What an element of this local name is right here.
    pub(super) fn within(&self, name: &[u8]) -> Element {
        self.element().map_or(Element::Document, |outer| outer.within(name))
    }

    /// Opens an element of this whole name.
    pub(super) fn open(&mut self, name: &str) {
        let element = self.within(local(name.as_bytes()));
        self.levels.push(Level { start: self.names.len(), element });
        self.names.extend_from_slice(name.as_bytes());
    }

    /// The whole name of the innermost element.
    fn name(&self) -> &[u8] {
        self.levels.last().map_or(&[], |level| &self.names[level.start..])
    }

    /// The innermost element's name without its prefix.
    pub(super) fn local_name(&self) -> &[u8] {
        local(self.name())
    }

    /// Whether an end tag with this name is right here.
    pub(super) fn check_end(&self, name: &str) -> Result<(), IllFormedError> {
        if self.levels.is_empty() {
            return Err(IllFormedError::UnmatchedEndTag(name.to_owned()));
        }
        if self.name() == name.as_bytes() {
            return Ok(());
        }
        let expected = String::from_utf8_lossy(self.name()).into_owned();
        Err(IllFormedError::MismatchedEndTag { expected, found: name.to_owned() })
    }

    /// Closes the innermost element.
    pub(super) fn close(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.names.truncate(level.start);
        }
    }
}

/// The part of a name behind its prefix.
fn local(name: &[u8]) -> &[u8] {
    name.iter().position(|byte| *byte == b':').map_or(name, |colon| &name[colon + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_that_of_what_was_opened_last() {
        let mut path = Path::default();
        assert!(matches!(path.check_end("a"), Err(IllFormedError::UnmatchedEndTag(_))));
        path.open("a");
        path.open("p:net");
        assert_eq!((path.element(), path.local_name()), (Some(Element::Net), &b"net"[..]));
        assert!(matches!(path.check_end("net"), Err(IllFormedError::MismatchedEndTag { .. })));
        assert!(path.check_end("p:net").is_ok());
        path.close();
        assert!(path.check_end("a").is_ok());
    }
}
