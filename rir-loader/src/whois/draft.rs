//! One object while its lines come in.
//!
//! The same draft serves for all objects of a text, so that nothing is allocated for most of them; a value is cut at
//! [`LONGEST`] bytes, so that no object can take more than a few kilobytes.

use std::borrow::Cow;
use std::fmt;

use hierarchy::{Country, Range, Registry};

use super::address::{RangeFault, parse_range};
use super::decode::decode;
use super::fault::Fault;
use super::object::{Net, Object, Organisation, registry_of};
use super::slot::{SLOTS, Slot};
use crate::rejects::shown;

/// Bytes of a value that are kept.
const LONGEST: usize = 1024;

/// Values by slot.
#[derive(Debug, Default)]
pub(super) struct Draft {
    values: [Vec<u8>; SLOTS],
    more_countries: bool,
    changed: u32,
}

impl Draft {
    pub(super) fn clear(&mut self) {
        self.values.iter_mut().for_each(Vec::clear);
        self.more_countries = false;
        self.changed = 0;
    }

    /// Takes a value in; of several the first counts, but for ranges, which add up, and changes, of which the last does.
    pub(super) fn put(&mut self, slot: Slot, value: &[u8]) {
        let value = without_comment(value);
        match slot {
            Slot::Changed => self.changed = self.changed.max(day(value)),
            Slot::Range => self.add_range(value),
            Slot::Maintainer => self.put_maintainer(value),
            Slot::Country => self.put_country(value),
            _ if self.values[slot as usize].is_empty() => self.append(slot, value),
            _ => {}
        }
    }

    /// The value of a slot goes on in the next line. Only the first line of a description is wanted.
    pub(super) fn go_on(&mut self, slot: Slot, value: &[u8]) {
        if matches!(slot, Slot::Range | Slot::Owner | Slot::Name | Slot::Handle) {
            self.append(slot, b" ");
            self.append(slot, without_comment(value));
        }
    }

    fn append(&mut self, slot: Slot, value: &[u8]) {
        let held = &mut self.values[slot as usize];
        let room = LONGEST.saturating_sub(held.len());
        held.extend_from_slice(&value[..value.len().min(room)]);
    }

    fn add_range(&mut self, value: &[u8]) {
        if !self.values[Slot::Range as usize].is_empty() {
            self.append(Slot::Range, b",");
        }
        self.append(Slot::Range, value);
    }

    /// The registries' own maintainers say nothing of the holder.
    fn put_maintainer(&mut self, value: &[u8]) {
        let first = value.split(|byte| *byte == b',').next().unwrap_or(value).trim_ascii();
        if self.values[Slot::Maintainer as usize].is_empty() && !is_registry_maintainer(first) {
            self.append(Slot::Maintainer, first);
        }
    }

    fn put_country(&mut self, value: &[u8]) {
        let held = &self.values[Slot::Country as usize];
        if held.is_empty() {
            self.append(Slot::Country, value);
        } else if !held.eq_ignore_ascii_case(value) {
            self.more_countries = true;
        }
    }

    fn value(&self, slot: Slot) -> &[u8] {
        self.values[slot as usize].trim_ascii()
    }

    /// Whether the object says where it is from, which it does at its end.
    pub(super) fn has_source(&self) -> bool {
        !self.value(Slot::Source).is_empty()
    }

    /// The values as text. `registry` is whose dump it is when no source is named.
    pub(super) fn texts(&self, registry: Option<Registry>) -> Result<Texts<'_>, Fault> {
        if self.values.iter().any(|value| memchr::memchr(0, value).is_some()) {
            return Err(Fault::Nul);
        }
        let source = self.value(Slot::Source);
        let named = if source.is_empty() { registry } else { registry_of(&decode(source).0) };
        let registry = named.ok_or_else(|| Fault::Source(shown(source)))?;
        Ok(Texts::new(self, registry))
    }

    /// Every range of the object.
    pub(super) fn ranges(&self, mut take: impl FnMut(Range)) -> Result<(), Fault> {
        let ranges = self.value(Slot::Range);
        if ranges.is_empty() {
            return Err(Fault::NoRange);
        }
        for text in ranges.split(|byte| *byte == b',') {
            let range = str::from_utf8(text).map_err(|_| RangeFault::Text).and_then(parse_range);
            take(range.map_err(|fault| Fault::Range { text: shown(text), fault })?);
        }
        Ok(())
    }
}

/// The decoded values of a draft.
pub(super) struct Texts<'d> {
    draft: &'d Draft,
    registry: Registry,
    values: [Cow<'d, str>; SLOTS],
    /// Whether any of them was ISO 8859-1.
    pub(super) latin1: bool,
}

impl<'d> Texts<'d> {
    fn new(draft: &'d Draft, registry: Registry) -> Self {
        let mut latin1 = false;
        let values = std::array::from_fn(|slot| {
            let (text, was_latin1) = decode(draft.values[slot].trim_ascii());
            latin1 |= was_latin1;
            text
        });
        Self { draft, registry, values, latin1 }
    }

    fn text(&self, slot: Slot) -> Option<&str> {
        let text: &str = &self.values[slot as usize];
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn net(&self, range: Range) -> Object<'_> {
        Object::Net(Net {
            range,
            registry: self.registry,
            organisation: self.text(Slot::Handle),
            owner: self.text(Slot::Owner),
            description: self.text(Slot::Description),
            netname: self.text(Slot::Netname),
            maintainer: self.text(Slot::Maintainer),
            status: self.text(Slot::Status),
            country: self.country(),
            more_countries: self.draft.more_countries,
            changed: self.draft.changed,
        })
    }

    pub(super) fn organisation(&self) -> Result<Object<'_>, Fault> {
        let handle = self.text(Slot::Handle).ok_or(Fault::NoHandle)?;
        let (name, country) = (self.text(Slot::Name), self.country());
        Ok(Object::Organisation(Organisation { registry: self.registry, handle, name, country }))
    }

    fn country(&self) -> Option<Country> {
        self.text(Slot::Country)?.parse().ok()
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").field("values", &self.values).finish_non_exhaustive()
    }
}

/// A comment begins with `#` behind a blank, or at the start.
fn without_comment(value: &[u8]) -> &[u8] {
    let mut sharps = memchr::memchr_iter(b'#', value);
    let cut = sharps.find(|at| at.checked_sub(1).is_none_or(|before| value[before].is_ascii_whitespace()));
    value[..cut.unwrap_or(value.len())].trim_ascii()
}

fn is_registry_maintainer(name: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"RIPE-NCC-", b"APNIC-", b"AFRINIC-", b"MAINT-APNIC"];
    let begins = |with: &&[u8]| name.len() >= with.len() && name[..with.len()].eq_ignore_ascii_case(with);
    BEGINNINGS.iter().any(begins)
}

/// The day in `foo@example.net 20030303`, `2012-05-31T08:16:34Z` or `1999-03-12`, as digits; 0 when there is none.
fn day(value: &[u8]) -> u32 {
    let last = value.rsplit(u8::is_ascii_whitespace).next().unwrap_or(value);
    let date = last.split(|byte| *byte == b'T').next().unwrap_or(last);
    let (mut day, mut digits) = (0_u32, 0);
    for byte in date.iter().filter(|byte| **byte != b'-') {
        if digits == 8 || !byte.is_ascii_digit() {
            return 0;
        }
        day = day * 10 + u32::from(byte - b'0');
        digits += 1;
    }
    if digits == 8 { day } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_found_in_every_way_of_writing() {
        let texts = [&b"foo@example.net 20030303"[..], b"2012-05-31T08:16:34Z", b"1999-03-12", b"never", b""];
        assert_eq!(texts.map(day), [20_030_303, 20_120_531, 19_990_312, 0, 0]);
    }

    #[test]
    fn comments_are_no_part_of_a_value() {
        assert_eq!(without_comment(b"EU # Country is really world wide"), b"EU");
        assert_eq!(without_comment(b"# all of it"), b"");
        assert_eq!(without_comment(b"C#-Werkstatt"), b"C#-Werkstatt");
    }

    #[test]
    fn the_first_value_counts_and_no_value_grows_for_ever() {
        let mut draft = Draft::default();
        draft.put(Slot::Owner, b"first");
        draft.put(Slot::Owner, b"second");
        (0..10_000).for_each(|_| draft.go_on(Slot::Owner, &[b'x'; 100]));
        assert!(draft.value(Slot::Owner).starts_with(b"first xxx"));
        assert_eq!(draft.value(Slot::Owner).len(), LONGEST);
    }

    #[test]
    fn a_registry_is_no_holder() {
        let mut draft = Draft::default();
        draft.put(Slot::Maintainer, b"RIPE-NCC-HM-MNT");
        draft.put(Slot::Maintainer, b"EXAMPLE-MNT, OTHER-MNT");
        assert_eq!(draft.value(Slot::Maintainer), b"EXAMPLE-MNT");
    }
}
