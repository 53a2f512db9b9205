//! Arbitrary documents are read the same with and without blanks in their start tags.

use proptest::prelude::*;
use rir_loader::TextError;
use rir_loader::format::Format;

use crate::whois::objects;

/// Place of an optional blank in a start tag.
const GAP: &str = "\u{1}";

const NAMES: [&str; 15] = [
    "net",
    "org",
    "customer",
    "handle",
    "name",
    "orgHandle",
    "startAddress",
    "endAddress",
    "netBlocks",
    "netBlock",
    "type",
    "iso3166-1",
    "code2",
    "updateDate",
    "p:name",
];

/// The first texts contain no markup.
const PLAIN: usize = 8;
const TEXTS: [&str; 20] = [
    "",
    "\n  ",
    " 192.0.2.0 ",
    "192.0.2.255",
    "S",
    "NL",
    "2012-05-31T00:00:00-04:00",
    "Caf\u{e9} # 1",
    "a&amp;b",
    "&#233;",
    "<!-- <name>x</name> -->",
    "<![CDATA[<name>]]>",
    "<name/>",
    "a>b",
    "\u{feff}",
    "\0",
    "&nothing;",
    "<",
    "<?name <name>x</name>?>",
    "</net>",
];

fn element(name: &str, content: &str) -> String {
    format!("<{name}{GAP}>{content}</{name}>")
}

/// Elements within elements, in right and in wrong places.
fn markup() -> impl Strategy<Value = String> {
    let name = || proptest::sample::select(&NAMES[..]);
    let text = || proptest::sample::select(&TEXTS[..]);
    let plain = || proptest::sample::select(&TEXTS[..PLAIN]);
    let leaf = || {
        (name(), prop_oneof![9 => plain(), 1 => text()])
            .prop_map(|(name, text)| element(name, text))
    };
    let mixed = (name(), plain(), leaf(), plain());
    let part = prop_oneof![
        40 => leaf(),
        20 => mixed.prop_map(|(name, before, leaf, behind)| {
            element(name, &[before, &leaf, behind].concat())
        }),
        1 => text().prop_map(str::to_owned),
    ];
    part.prop_recursive(4, 60, 8, move |inner| {
        (name(), proptest::collection::vec(inner, 0..8))
            .prop_map(|(name, parts)| element(name, &parts.concat()))
    })
}

/// A net or an organisation with what it needs and much else.
fn object() -> impl Strategy<Value = String> {
    let class = proptest::sample::select(&["net", "org"][..]);
    (class, proptest::collection::vec(markup(), 0..12)).prop_map(|(class, parts)| {
        let needed =
            [("handle", "EX-1"), ("startAddress", "192.0.2.0"), ("endAddress", "192.0.2.255")];
        let needed = needed.map(|(name, text)| element(name, text)).concat();
        element(class, &[&parts.concat(), needed.as_str()].concat())
    })
}

/// Objects and report of a document, or its error.
fn describe(text: &str) -> String {
    match objects(Format::ArinXml, text.as_bytes()) {
        Ok((objects, report)) => format!("{objects:?} {report:?}"),
        Err(TextError::Xml { reason, .. }) => reason,
        Err(error) => error.to_string(),
    }
}

proptest! {
    #[test]
    fn blanks_in_tags_make_no_difference(
        parts in proptest::collection::vec(prop_oneof![4 => object(), 1 => markup()], 0..6),
        // The buffer of the stream may end anywhere.
        padding in prop_oneof![Just(0), 261_500_usize..262_200],
    ) {
        let blanks = " ".repeat(padding);
        let text = format!("<bulkwhois>{blanks}{}</bulkwhois>", parts.concat());
        prop_assert_eq!(describe(&text.replace(GAP, "")), describe(&text.replace(GAP, " ")));
    }
}
