//! One object while its lines come in.
//!
//! The same draft serves for all objects of a text, so that nothing is allocated for most of them;
//! a value is cut at [`LONGEST`] bytes, so that an object takes a few kilobytes, and some megabytes
//! at worst, if its values go on in turns: each time one is copied. The values lie end to end in
//! one piece of memory, which is looked through for NUL bytes and found to be UTF-8 as a whole.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range as Span;

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
    text: Vec<u8>,
    /// Where the values lie in the text. What lies between them was moved to the end, to go on
    /// there.
    values: [Span<usize>; SLOTS],
    more_countries: bool,
    changed: u32,
}

impl Draft {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.values = Default::default();
        self.more_countries = false;
        self.changed = 0;
    }

    /// Takes a value in; of several the first counts, but for ranges, which add up, and changes, of
    /// which the last does.
    pub(super) fn put(&mut self, slot: Slot, value: &[u8]) {
        let value = without_comment(value);
        match slot {
            Slot::Changed => self.changed = self.changed.max(day(value)),
            Slot::Range => self.add_range(value),
            Slot::Maintainer => self.put_maintainer(value),
            Slot::Country => self.put_country(value),
            _ if self.is_empty(slot) => self.append(slot, value),
            _ => {}
        }
    }

    /// The value of a slot goes on in the next line. Only the first line of a description is
    /// wanted.
    pub(super) fn go_on(&mut self, slot: Slot, value: &[u8]) {
        if matches!(slot, Slot::Range | Slot::Owner | Slot::Name | Slot::Handle) {
            self.append(slot, b" ");
            self.append(slot, without_comment(value));
        }
    }

    fn append(&mut self, slot: Slot, value: &[u8]) {
        let held = self.values[slot as usize].clone();
        let value = &value[..value.len().min(LONGEST - held.len())];
        let end = self.text.len();
        if held.end == end || value.is_empty() {
            self.values[slot as usize].end += value.len();
        } else {
            self.text.extend_from_within(held.clone());
            self.values[slot as usize] = end..end + held.len() + value.len();
        }
        self.text.extend_from_slice(value);
    }

    fn add_range(&mut self, value: &[u8]) {
        if !self.is_empty(Slot::Range) {
            self.append(Slot::Range, b",");
        }
        self.append(Slot::Range, value);
    }

    /// The registries' own maintainers say nothing of the holder.
    fn put_maintainer(&mut self, value: &[u8]) {
        if self.is_empty(Slot::Maintainer) {
            let first =
                memchr::memchr(b',', value).map_or(value, |comma| value[..comma].trim_ascii_end());
            if !is_registry_maintainer(first) {
                self.append(Slot::Maintainer, first);
            }
        }
    }

    fn put_country(&mut self, value: &[u8]) {
        if self.is_empty(Slot::Country) {
            self.append(Slot::Country, value);
        } else if !self.value(Slot::Country).eq_ignore_ascii_case(value) {
            self.more_countries = true;
        }
    }

    fn is_empty(&self, slot: Slot) -> bool {
        self.values[slot as usize].is_empty()
    }

    fn value(&self, slot: Slot) -> &[u8] {
        self.text[self.values[slot as usize].clone()].trim_ascii()
    }

    /// Whether the object says where it is from, which it does at its end.
    pub(super) fn has_source(&self) -> bool {
        !self.value(Slot::Source).is_empty()
    }

    /// The values as text. `registry` is whose dump it is when no source is named.
    pub(super) fn texts(&self, registry: Option<Registry>) -> Result<Texts<'_>, Fault> {
        if memchr::memchr(0, &self.text).is_some() {
            return Err(Fault::Nul);
        }
        let source = self.value(Slot::Source);
        let named = if source.is_empty() { registry } else { registry_of(&decode(source).0) };
        let registry = named.ok_or_else(|| Fault::Source(shown(source)))?;
        Ok(Texts::new(self, registry))
    }

    /// Every range of the object, in place of those that were there before. After an error some are
    /// missing.
    pub(super) fn ranges_into(&self, ranges: &mut Vec<Range>) -> Result<(), Fault> {
        ranges.clear();
        let texts = self.value(Slot::Range);
        if texts.is_empty() {
            return Err(Fault::NoRange);
        }
        for text in texts.split(|byte| *byte == b',') {
            let range = str::from_utf8(text).map_err(|_| RangeFault::Text).and_then(parse_range);
            ranges.push(range.map_err(|fault| Fault::Range { text: shown(text), fault })?);
        }
        Ok(())
    }
}

/// The decoded values of a draft.
pub(super) struct Texts<'d> {
    draft: &'d Draft,
    registry: Registry,
    text: Cow<'d, str>,
    values: [Span<usize>; SLOTS],
    /// Whether any of them was ISO 8859-1.
    pub(super) latin1: bool,
}

impl<'d> Texts<'d> {
    fn new(draft: &'d Draft, registry: Registry) -> Self {
        let is_whole =
            |text: &&str| draft.values.iter().all(|value| text.get(value.clone()).is_some());
        if let Some(text) = str::from_utf8(&draft.text).ok().filter(is_whole) {
            let values = draft.values.clone();
            return Self { draft, registry, text: Cow::Borrowed(text), values, latin1: false };
        }
        let mut all = String::new();
        let mut latin1 = false;
        let values = draft.values.each_ref().map(|value| {
            let (text, was_latin1) = decode(&draft.text[value.clone()]);
            latin1 |= was_latin1;
            let start = all.len();
            all.push_str(&text);
            start..all.len()
        });
        Self { draft, registry, text: Cow::Owned(all), values, latin1 }
    }

    fn text(&self, slot: Slot) -> Option<&str> {
        let text = self.text[self.values[slot as usize].clone()].trim_ascii();
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
        f.debug_struct("Texts").field("text", &self.text).finish_non_exhaustive()
    }
}

/// A comment begins with `#` behind a blank, or at the start.
fn without_comment(value: &[u8]) -> &[u8] {
    let mut sharps = memchr::memchr_iter(b'#', value);
    let cut = sharps
        .find(|at| at.checked_sub(1).is_none_or(|before| value[before].is_ascii_whitespace()));
    value[..cut.unwrap_or(value.len())].trim_ascii()
}

fn is_registry_maintainer(name: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"RIPE-NCC-", b"APNIC-", b"AFRINIC-", b"MAINT-APNIC"];
    let begins =
        |with: &&[u8]| name.len() >= with.len() && name[..with.len()].eq_ignore_ascii_case(with);
    BEGINNINGS.iter().any(begins)
}

/// The day in `foo@example.net 20030303`, `2012-05-31T08:16:34Z` or `1999-03-12`, as digits; 0 when
/// there is none.
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
        let texts = [
            &b"foo@example.net 20030303"[..],
            b"2012-05-31T08:16:34Z",
            b"1999-03-12",
            b"never",
            b"",
        ];
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

    #[test]
    fn a_value_may_go_on_when_others_have_begun() {
        let mut draft = Draft::default();
        draft.put(Slot::Range, b"192.0.2.0/25");
        draft.put(Slot::Owner, b"Example");
        draft.put(Slot::Range, b"192.0.2.128/25");
        draft.go_on(Slot::Owner, b"Widgets");
        assert_eq!(draft.value(Slot::Range), b"192.0.2.0/25,192.0.2.128/25");
        assert_eq!(draft.value(Slot::Owner), b"Example Widgets");
        let mut ranges = vec![];
        draft.ranges_into(&mut ranges).unwrap();
        assert_eq!(ranges.len(), 2);
        draft.clear();
        assert!(draft.value(Slot::Owner).is_empty());
    }

    #[test]
    fn neighbours_in_memory_do_not_make_a_letter() {
        let mut draft = Draft::default();
        draft.put(Slot::Owner, b"caf\xc3");
        draft.put(Slot::Status, b"\xa9 1999");
        let texts = draft.texts(Some(Registry::Lacnic)).unwrap();
        assert_eq!(texts.text(Slot::Owner), Some("caf\u{c3}"));
        assert_eq!(texts.text(Slot::Status), Some("\u{a9} 1999"));
        assert!(texts.latin1);
    }
}
