//! HTML extraction with lol_html's streaming parser.
//!
//! The parser finds the few elements that carry links or directives and skips over everything else.
//! It rewrites a document into itself; from its output [`super::tokenizer`] takes the text. With
//! handlers for text the parser would read every tag into tokens.
//!
//! What is in `noscript` elements is text to the parser. As the crawler runs no scripts, it is
//! parsed at the end, and its links are taken.

use std::{borrow::Cow, cell::RefCell, mem, sync::LazyLock};

use lol_html::{
    ElementContentHandlers, HandlerResult, MemorySettings, Selector,
    send::{Element, HtmlRewriter, SendHandlerTypes, Settings},
};

use super::{collector::Collector, self_closed::SelfClosed};

/// Most memory of the parser for one page, in bytes. Deeper nesting than this allows ends the
/// extraction.
const PARSER_BYTES: usize = 6 << 20;

/// Most memory of the parser for an open element, in bytes. How many are open is not known, but not
/// more than were opened.
const ELEMENT_BYTES: usize = 256;

/// Elements with links or directives.
const ELEMENTS: &str = "a, area, base, frame, html, iframe, link, meta";

/// The selector of these elements, which is parsed once.
static SELECTOR: LazyLock<Option<Selector>> = LazyLock::new(|| ELEMENTS.parse().ok());

/// The selector of links.
static LINKS: LazyLock<Option<Selector>> = LazyLock::new(|| "a".parse().ok());

thread_local! {
    /// The collection of the page that this thread reads just now. Handlers must be `Send` and
    /// cannot own what they share, so they find it here; [`HtmlReader::lend`] moves it in and out.
    static CURRENT: RefCell<Option<Box<Collector>>> = const { RefCell::new(None) };
}

type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Extracts HTML as it arrives.
pub(super) struct HtmlReader {
    /// None once the parser has failed; what was collected before is kept.
    parser: Option<Box<Parser>>,
    /// None only while the parser runs.
    collector: Option<Box<Collector>>,
    /// Of a page that is XHTML, what the parser would read otherwise.
    self_closed: Option<SelfClosed>,
    /// Bytes of the page so far.
    written: usize,
}

impl HtmlReader {
    pub(super) fn new() -> Self {
        let parser = SELECTOR.as_ref().map(|selector| Box::new(parser(selector, on_output)));
        Self { parser, collector: Some(Box::default()), self_closed: None, written: 0 }
    }

    /// A reader of XHTML.
    pub(super) fn of_xhtml() -> Self {
        Self { self_closed: Some(SelfClosed::default()), ..Self::new() }
    }

    pub(super) fn write(&mut self, html: &str) {
        let Some(mut parser) = self.parser.take() else { return };
        let html = match &mut self.self_closed {
            Some(self_closed) => self_closed.with_end_tags(html),
            None => Cow::Borrowed(html),
        };
        self.written += html.len();
        // A parser that failed must not be used again.
        self.parser = self.lend(|| parser.write(html.as_bytes()).is_ok().then_some(parser));
    }

    pub(super) fn finish(mut self) -> Collector {
        if let Some(parser) = self.parser.take() {
            // An error at the end loses nothing that was collected before.
            let _ = self.lend(|| parser.end());
        }
        if let Some(collector) = &mut self.collector {
            collector.finish();
        }
        self.read_noscript();
        self.collector.map(|collector| *collector).unwrap_or_default()
    }

    /// Takes the links for readers without scripts. On most pages there is only an image.
    fn read_noscript(&mut self) {
        let Some(collector) = &mut self.collector else { return };
        let html = mem::take(&mut collector.text.noscript);
        let has_link = html.as_bytes().windows(2).any(|tag| tag.eq_ignore_ascii_case(b"<a"));
        if let Some(selector) = LINKS.as_ref().filter(|_| has_link) {
            let mut parser = parser(selector, |_| {});
            // An error at the end loses nothing that was collected before.
            let _ = self.lend(|| parser.write(html.as_bytes()).and_then(|()| parser.end()));
        }
    }

    /// Memory of parser and collection, and of the document that becomes of it, in bytes.
    pub(super) fn held(&self) -> usize {
        let Some(collector) = &self.collector else { return 0 };
        let unread = self.written.saturating_sub(collector.passed());
        let parser = unread + collector.opened() * ELEMENT_BYTES;
        parser.min(PARSER_BYTES) + collector.held()
    }

    /// Runs the parser with the collection of this page in [`CURRENT`].
    fn lend<T>(&mut self, run: impl FnOnce() -> T) -> T {
        CURRENT.with_borrow_mut(|current| mem::swap(current, &mut self.collector));
        let result = run();
        CURRENT.with_borrow_mut(|current| mem::swap(current, &mut self.collector));
        result
    }
}

/// Handles an event of the parser.
fn collect(event: impl FnOnce(&mut Collector)) {
    CURRENT.with_borrow_mut(|current| {
        if let Some(collector) = current {
            event(collector);
        }
    });
}

fn parser(selector: &'static Selector, on_output: fn(&[u8])) -> Parser {
    let memory = MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES);
    let handlers = ElementContentHandlers::<'static, SendHandlerTypes>::default();
    let settings = Settings::new_send()
        .with_memory_settings(memory)
        .with_strict(false)
        .append_element_content_handler((Cow::Borrowed(selector), handlers.element(on_element)));
    HtmlRewriter::new(settings, on_output)
}

#[expect(clippy::unnecessary_wraps, reason = "the parser wants a result")]
fn on_element(element: &mut Element<'_, '_>) -> HandlerResult {
    collect(|collector| collector.element(element));
    Ok(())
}

fn on_output(document: &[u8]) {
    collect(|collector| collector.output(document));
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use crate::extract::{Extractor, Media};

    #[test]
    fn small_pieces_cost_no_more_than_large_ones() {
        let tag = format!("<a title=\"{}\" href=/x>y</a>", "x".repeat(4 << 20));
        let time = |size| {
            let started = Instant::now();
            let mut extractor = Extractor::new(Media::Html, Some("utf-8"));
            tag.as_bytes().chunks(size).for_each(|piece| extractor.write(piece));
            assert_eq!(extractor.finish().references.len(), 1);
            started.elapsed()
        };
        let large = time(8 << 10);
        let small = time(32);
        assert!(small < large * 20 + Duration::from_secs(2), "{small:?} instead of {large:?}");
    }
}
