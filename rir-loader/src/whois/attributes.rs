//! Attributes of one object, collected in bounded memory.

use std::borrow::Cow;

use hierarchy::{Country, Range, Registry};

use super::address::{AddressError, parse_range};
use super::object::{Net, Object, Organisation, registry_of_source};
use super::report::WhoisReport;
use crate::rejects::excerpt;

/// Longest value in bytes; the rest is cut off.
const MAX_VALUE: usize = 1024;

/// An attribute that matters, under any of its names in the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Range,
    /// Of a net: the handle of its holder. Of an organisation: its own.
    Handle,
    Owner,
    Description,
    Netname,
    Maintainer,
    Status,
    Country,
    Source,
    /// Name of an organisation.
    Name,
    Changed,
}

/// Class of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Net,
    Organisation,
    /// People, routes and everything else that is skipped.
    Other,
}

/// Why an object is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ObjectError {
    #[error("no `key: value` on this line")]
    NoAttribute,
    #[error("longer than 65,536 bytes")]
    LongLine,
    #[error("an object of more than 100,000 lines")]
    TooManyLines,
    #[error("NUL bytes in a value")]
    Nul,
    #[error("no range of addresses")]
    NoRange,
    #[error("the range `{text}` {error}")]
    Range { text: String, error: AddressError },
    #[error("`source: {0}` names none of the five registries")]
    Source(String),
    #[error("an organisation without a handle")]
    NoHandle,
}

impl ObjectError {
    pub(super) fn range(text: &str, error: AddressError) -> Self {
        Self::Range { text: excerpt(text.as_bytes()), error }
    }
}

/// Values of one object. The same instance serves all objects of a text.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    values: [String; Attribute::Changed as usize + 1],
    more_countries: bool,
    changed: u32,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        self.values.iter_mut().for_each(String::clear);
        self.more_countries = false;
        self.changed = 0;
    }

    /// Adds an attribute. The first value counts, except that ranges add up and the latest change
    /// counts.
    pub(super) fn add(&mut self, attribute: Attribute, value: &[u8]) {
        let value = decode(strip_comment(value));
        let is_empty = self.values[attribute as usize].is_empty();
        match attribute {
            Attribute::Changed => self.changed = self.changed.max(parse_day(&value)),
            Attribute::Range if !is_empty => {
                self.append(attribute, ",");
                self.append(attribute, &value);
            }
            Attribute::Maintainer if is_empty => {
                let first = value.split(',').next().unwrap_or_default().trim_ascii();
                // The registry maintains what it delegates itself: that does not name the holder.
                if !is_registry_maintainer(first) {
                    self.append(attribute, first);
                }
            }
            Attribute::Country if !is_empty => {
                let first = self.value(Attribute::Country).unwrap_or_default();
                self.more_countries |= !first.eq_ignore_ascii_case(&value);
            }
            _ if is_empty => self.append(attribute, &value),
            _ => {}
        }
    }

    /// Adds a continuation line. Only the first line of a description is wanted: the next ones are
    /// mostly an address.
    pub(super) fn extend(&mut self, attribute: Attribute, value: &[u8]) {
        use Attribute::{Handle, Name, Owner, Range};
        if matches!(attribute, Range | Owner | Name | Handle) {
            self.append(attribute, " ");
            self.append(attribute, &decode(strip_comment(value)));
        }
    }

    fn append(&mut self, attribute: Attribute, text: &str) {
        let value = &mut self.values[attribute as usize];
        let room = MAX_VALUE.saturating_sub(value.len());
        value.push_str(&text[..text.floor_char_boundary(room)]);
    }

    pub(super) fn value(&self, attribute: Attribute) -> Option<&str> {
        let value = self.values[attribute as usize].trim_ascii();
        (!value.is_empty()).then_some(value)
    }

    /// Passes the object to `handler` as a whole or not at all: one net for each of its ranges, or
    /// one organisation. `registry` counts where the object names no source.
    pub(super) fn handle(
        &self,
        class: Class,
        registry: Option<Registry>,
        report: &mut WhoisReport,
        handler: &mut dyn FnMut(&Object<'_>),
    ) -> Result<(), ObjectError> {
        match class {
            Class::Other => Ok(()),
            Class::Net => self.handle_net(&self.ranges()?, registry, report, handler),
            Class::Organisation => {
                let registry = self.check(registry)?;
                let handle = self.value(Attribute::Handle).ok_or(ObjectError::NoHandle)?;
                let name = self.value(Attribute::Name);
                let country = self.country();
                handler(&Object::Organisation(Organisation { registry, handle, name, country }));
                report.organisations += 1;
                Ok(())
            }
        }
    }

    /// Passes one net for each range to `handler`.
    pub(super) fn handle_net(
        &self,
        ranges: &[Range],
        registry: Option<Registry>,
        report: &mut WhoisReport,
        handler: &mut dyn FnMut(&Object<'_>),
    ) -> Result<(), ObjectError> {
        let registry = self.check(registry)?;
        for range in ranges {
            report.ranges[usize::from(!range.is_v4())] += 1;
            handler(&Object::Net(Net {
                range: *range,
                registry,
                organisation: self.value(Attribute::Handle),
                owner: self.value(Attribute::Owner),
                description: self.value(Attribute::Description),
                netname: self.value(Attribute::Netname),
                maintainer: self.value(Attribute::Maintainer),
                status: self.value(Attribute::Status),
                country: self.country(),
                more_countries: self.more_countries,
                changed: self.changed,
            }));
        }
        Ok(())
    }

    /// Checks the values and determines the registry.
    fn check(&self, registry: Option<Registry>) -> Result<Registry, ObjectError> {
        if self.values.iter().any(|value| value.contains('\0')) {
            return Err(ObjectError::Nul);
        }
        let source = self.value(Attribute::Source);
        let registry = source.map_or(registry, registry_of_source);
        registry.ok_or_else(|| ObjectError::Source(excerpt(source.unwrap_or_default().as_bytes())))
    }

    fn ranges(&self) -> Result<Vec<Range>, ObjectError> {
        let texts = self.value(Attribute::Range).ok_or(ObjectError::NoRange)?;
        let parse = |text| parse_range(text).map_err(|error| ObjectError::range(text, error));
        texts.split(',').map(parse).collect()
    }

    fn country(&self) -> Option<Country> {
        self.value(Attribute::Country)?.parse().ok()
    }
}

/// Decodes a value as UTF-8 where it is valid, else as ISO 8859-1.
///
/// The files do not name their encoding: RIPE's plain dumps and LACNIC's are ISO 8859-1, the others
/// UTF-8. A text in ISO 8859-1 with an umlaut is hardly ever valid UTF-8 by chance, so each value
/// can be judged by itself. In ISO 8859-1 every byte is the character of that number.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}

/// A comment begins with `#` at the start or after a blank.
fn strip_comment(value: &[u8]) -> &[u8] {
    let begins_comment =
        |at: &usize| value[*at] == b'#' && (*at == 0 || value[*at - 1].is_ascii_whitespace());
    let end = (0..value.len()).find(begins_comment).unwrap_or(value.len());
    value[..end].trim_ascii()
}

fn is_registry_maintainer(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["RIPE-NCC-", "APNIC-", "AFRINIC-", "MAINT-APNIC"].iter().any(|start| name.starts_with(start))
}

/// The day in `foo@example.net 20030303`, `2012-05-31T08:16:34Z` or `1999-03-12`, as digits; 0
/// without one.
fn parse_day(value: &str) -> u32 {
    let last = value.rsplit(char::is_whitespace).next().unwrap_or_default();
    let digits = last.split('T').next().unwrap_or_default().replace('-', "");
    let is_day = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_day).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_encodings_are_decoded() {
        assert_eq!(decode("São Paulo".as_bytes()), "São Paulo");
        assert_eq!(decode(b"S\xe3o Paulo"), "São Paulo");
    }

    #[test]
    fn days_are_parsed_in_every_notation() {
        let texts = ["foo@example.net 20030303", "2012-05-31T08:16:34Z", "1999-03-12", "never", ""];
        assert_eq!(texts.map(parse_day), [20_030_303, 20_120_531, 19_990_312, 0, 0]);
    }

    #[test]
    fn comments_are_not_part_of_a_value() {
        assert_eq!(strip_comment(b"EU # Country is really world wide"), b"EU");
        assert_eq!(strip_comment(b"# all of it"), b"");
        assert_eq!(strip_comment(b"C#-Werkstatt"), b"C#-Werkstatt");
    }

    #[test]
    fn the_first_value_counts_and_its_length_is_bounded() {
        let mut attributes = Attributes::default();
        attributes.add(Attribute::Owner, b"first");
        attributes.add(Attribute::Owner, b"second");
        (0..10_000).for_each(|_| attributes.extend(Attribute::Owner, &[b'x'; 100]));
        let owner = attributes.value(Attribute::Owner).unwrap();
        assert!(owner.starts_with("first xxx"));
        assert_eq!(owner.len(), MAX_VALUE);
    }

    #[test]
    fn a_registry_is_not_a_holder() {
        let mut attributes = Attributes::default();
        attributes.add(Attribute::Maintainer, b"RIPE-NCC-HM-MNT");
        attributes.add(Attribute::Maintainer, b"EXAMPLE-MNT, OTHER-MNT");
        assert_eq!(attributes.value(Attribute::Maintainer), Some("EXAMPLE-MNT"));
    }

    #[test]
    fn an_attribute_may_continue_after_another_began() {
        let mut attributes = Attributes::default();
        attributes.add(Attribute::Range, b"192.0.2.0/25");
        attributes.add(Attribute::Owner, b"Example");
        attributes.add(Attribute::Range, b"192.0.2.128/25");
        attributes.extend(Attribute::Owner, b"Widgets");
        assert_eq!(attributes.value(Attribute::Range), Some("192.0.2.0/25,192.0.2.128/25"));
        assert_eq!(attributes.value(Attribute::Owner), Some("Example Widgets"));
        assert_eq!(attributes.ranges().unwrap().len(), 2);
        attributes.clear();
        assert_eq!(attributes.value(Attribute::Owner), None);
    }

    #[test]
    fn each_value_is_decoded_by_itself() {
        let mut attributes = Attributes::default();
        attributes.add(Attribute::Owner, b"caf\xc3");
        attributes.add(Attribute::Status, b"\xa9 1999");
        assert_eq!(attributes.value(Attribute::Owner), Some("caf\u{c3}"));
        assert_eq!(attributes.value(Attribute::Status), Some("\u{a9} 1999"));
    }
}
