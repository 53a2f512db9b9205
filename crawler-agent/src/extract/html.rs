//! HTML extraction with lol_html's streaming parser.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lol_html::{
    DocumentContentHandlers, ElementContentHandlers, MemorySettings, Selector,
    html_content::{EndTag, TextChunk},
    send::{Element, HtmlRewriter, SendHandlerTypes, Settings},
};

use super::collector::Collector;

/// Most memory of the parser for one page, in bytes. Deeper nesting than this allows ends the
/// extraction.
const PARSER_BYTES: usize = 6 << 20;

/// Elements whose text is not the subject of the page; used only when there is no other text.
const BOILERPLATE: &str = "nav, footer, aside, template, select, datalist, button, dialog";

type SharedCollector = Arc<Mutex<Collector>>;
type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Extracts HTML as it arrives.
pub(super) struct HtmlReader {
    /// None once the parser has failed; what was collected before is kept.
    parser: Option<Box<Parser>>,
    collector: SharedCollector,
}

impl HtmlReader {
    pub(super) fn new() -> Self {
        let collector = SharedCollector::default();
        Self { parser: parser(&collector).map(Box::new), collector }
    }

    pub(super) fn write(&mut self, html: &str) {
        self.parser =
            self.parser.take().and_then(|mut p| p.write(html.as_bytes()).ok().map(|()| p));
    }

    pub(super) fn finish(self) -> Collector {
        // An error at the end loses nothing that was collected before.
        let _ = self.parser.map(|parser| parser.end());
        std::mem::take(&mut *lock(&self.collector))
    }
}

/// The parser calls its handlers one after the other, so the lock is always free; it is needed only
/// because the handlers must be `Send`.
fn lock(collector: &SharedCollector) -> MutexGuard<'_, Collector> {
    collector.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parser(collector: &SharedCollector) -> Option<Parser> {
    let every: Selector = "*".parse().ok()?;
    let title: Selector = "title".parse().ok()?;
    let boilerplate: Selector = BOILERPLATE.parse().ok()?;
    let memory = MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES);
    // Handlers run in this order: text must be marked as title or boilerplate before it is taken.
    let settings = Settings::new_send()
        .with_memory_settings(memory)
        .with_strict(false)
        .append_element_content_handler((Cow::Owned(every), on_element(collector)))
        .append_element_content_handler((
            Cow::Owned(title),
            on_text(collector, Collector::mark_title),
        ))
        .append_element_content_handler((
            Cow::Owned(boilerplate),
            on_text(collector, Collector::mark_boilerplate),
        ))
        .append_document_content_handler(on_any_text(collector));
    Some(HtmlRewriter::new(settings, |_: &[u8]| {}))
}

fn on_element(collector: &SharedCollector) -> ElementContentHandlers<'static, SendHandlerTypes> {
    let collector = Arc::clone(collector);
    ElementContentHandlers::default().element(move |element: &mut Element<'_, '_>| {
        let breaks = lock(&collector).element(element);
        if breaks && element.can_have_content() {
            let collector = Arc::clone(&collector);
            element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
                lock(&collector).break_word();
                Ok(())
            }))?;
        }
        Ok(())
    })
}

fn on_text(
    collector: &SharedCollector,
    mark: fn(&mut Collector),
) -> ElementContentHandlers<'static, SendHandlerTypes> {
    let collector = Arc::clone(collector);
    ElementContentHandlers::default().text(move |_: &mut TextChunk<'_>| {
        mark(&mut lock(&collector));
        Ok(())
    })
}

fn on_any_text(collector: &SharedCollector) -> DocumentContentHandlers<'static, SendHandlerTypes> {
    let collector = Arc::clone(collector);
    DocumentContentHandlers::default().text(move |chunk: &mut TextChunk<'_>| {
        lock(&collector).text(chunk);
        Ok(())
    })
}
