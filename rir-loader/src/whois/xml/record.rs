//! One object while its parts come in.

use hierarchy::Registry;

use super::element::Element;
use super::net::Blocks;
use crate::whois::draft::Draft;
use crate::whois::fault::Fault;
use crate::whois::file::Take;
use crate::whois::report::WhoisReport;
use crate::whois::slot::Slot;

/// What a net or an organisation says. It serves for all objects of a document.
#[derive(Debug, Default)]
pub(super) struct Record {
    draft: Draft,
    blocks: Blocks,
    line: u64,
}

impl Record {
    /// An object begins in this line.
    pub(super) fn begin(&mut self, line: u64) {
        self.draft.clear();
        self.blocks.clear();
        self.line = line;
    }

    /// A part has ended, which had this text right in it.
    pub(super) fn part(&mut self, element: Element, text: &[u8]) {
        match element {
            Element::Value(slot) => self.draft.put(slot, text),
            Element::Outer(end) => self.blocks.outer(end, text),
            Element::BlockEnd(end) => self.blocks.part(end, text),
            Element::BlockKind => self.blocks.kind(text),
            Element::Block => self.blocks.end_block(),
            _ => {}
        }
    }

    /// The object has ended, and is this element.
    pub(super) fn handover(&mut self, element: Element, report: &mut WhoisReport, take: Take<'_>) {
        let outcome = match element {
            Element::Net => self.net(report, take),
            Element::Organisation => self.organisation(report, take),
            _ => Ok(()),
        };
        if let Err(fault) = outcome {
            report.rejects.add(self.line, fault, self.blocks.shown().as_bytes());
        }
    }

    fn organisation(&self, report: &mut WhoisReport, take: Take<'_>) -> Result<(), Fault> {
        let texts = self.draft.texts(Some(Registry::Arin))?;
        take(&texts.organisation()?);
        report.organisations += 1;
        Ok(())
    }

    fn net(&mut self, report: &mut WhoisReport, take: Take<'_>) -> Result<(), Fault> {
        if let Some(status) = self.blocks.status() {
            self.draft.put(Slot::Status, status.as_bytes());
        }
        let ranges = self.blocks.ranges()?;
        let texts = self.draft.texts(Some(Registry::Arin))?;
        for range in ranges {
            report.ranges[usize::from(!range.is_v4())] += 1;
            take(&texts.net(*range));
        }
        Ok(())
    }
}
