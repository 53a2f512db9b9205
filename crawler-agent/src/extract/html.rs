//! HTML to what it says, by lol_html's streaming parser.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lol_html::{
    DocumentContentHandlers, ElementContentHandlers, MemorySettings, Selector,
    html_content::{EndTag, TextChunk},
    send::{Element, HtmlRewriter, SendHandlerTypes, Settings},
};

use super::collect::Collected;

/// Memory that the parser may take for one page, in bytes; nesting deeper than this allows ends the
/// reading.
const PARSER_BYTES: usize = 6 << 20;

/// Elements whose text is not the page's subject; used only when there is no other text.
const NOISE: &str = "nav, footer, aside, template, select, datalist, button, dialog";

type Shared = Arc<Mutex<Collected>>;
type Parser = HtmlRewriter<'static, fn(&[u8])>;

/// Reads HTML as it arrives.
pub(super) struct HtmlReader {
    /// None once the parser gave up; what was found so far counts.
    parser: Option<Box<Parser>>,
    found: Shared,
}

impl HtmlReader {
    pub(super) fn new() -> Self {
        let found = Shared::default();
        Self { parser: parser(&found).map(Box::new), found }
    }

    pub(super) fn write(&mut self, html: &str) {
        self.parser =
            self.parser.take().and_then(|mut p| p.write(html.as_bytes()).ok().map(|()| p));
    }

    pub(super) fn finish(self) -> Collected {
        // An error at the very end loses nothing that was found before.
        let _ = self.parser.map(|parser| parser.end());
        std::mem::take(&mut *lock(&self.found))
    }
}

/// Handlers run one after the other, so nobody else ever holds the lock.
fn lock(found: &Shared) -> MutexGuard<'_, Collected> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parser(found: &Shared) -> Option<Parser> {
    let every: Selector = "*".parse().ok()?;
    let title: Selector = "title".parse().ok()?;
    let noise: Selector = NOISE.parse().ok()?;
    let memory = MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES);
    // The order counts: text is marked as title or noise before it is taken.
    let settings = Settings::new_send()
        .with_memory_settings(memory)
        .with_strict(false)
        .append_element_content_handler((Cow::Owned(every), on_element(found)))
        .append_element_content_handler((Cow::Owned(title), on_text(found, Collected::mark_title)))
        .append_element_content_handler((Cow::Owned(noise), on_text(found, Collected::mark_noise)))
        .append_document_content_handler(on_any_text(found));
    Some(HtmlRewriter::new(settings, |_: &[u8]| {}))
}

fn on_element(found: &Shared) -> ElementContentHandlers<'static, SendHandlerTypes> {
    let found = Arc::clone(found);
    ElementContentHandlers::default().element(move |element: &mut Element<'_, '_>| {
        let breaks = lock(&found).element(element);
        if breaks && element.can_have_content() {
            let found = Arc::clone(&found);
            element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
                lock(&found).break_word();
                Ok(())
            }))?;
        }
        Ok(())
    })
}

fn on_text(
    found: &Shared,
    mark: fn(&mut Collected),
) -> ElementContentHandlers<'static, SendHandlerTypes> {
    let found = Arc::clone(found);
    ElementContentHandlers::default().text(move |_: &mut TextChunk<'_>| {
        mark(&mut lock(&found));
        Ok(())
    })
}

fn on_any_text(found: &Shared) -> DocumentContentHandlers<'static, SendHandlerTypes> {
    let found = Arc::clone(found);
    DocumentContentHandlers::default().text(move |chunk: &mut TextChunk<'_>| {
        lock(&found).text(chunk);
        Ok(())
    })
}
