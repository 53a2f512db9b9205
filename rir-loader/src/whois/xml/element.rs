//! What an element is, by its name and the element around it.

use crate::whois::slot::Slot;

/// An element of ARIN's bulk WHOIS, as far as it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// The document's own, whatever its name.
    Document,
    Net,
    Organisation,
    /// The first or the last address of a net.
    Outer(End),
    /// `netBlocks` and each `netBlock` in it.
    Blocks,
    Block,
    BlockEnd(End),
    BlockKind,
    /// `iso3166-1`, with names of a country besides its code.
    Place,
    /// A value of a net or an organisation.
    Value(Slot),
    /// Passed over with all that is in it.
    Other,
}

/// One end of a span of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

impl Element {
    /// The element of this local name within this one.
    pub(super) fn within(self, name: &[u8]) -> Self {
        match self {
            Self::Document => match name {
                b"net" => Self::Net,
                b"org" | b"customer" => Self::Organisation,
                _ => Self::Other,
            },
            Self::Net => net(name),
            Self::Organisation => organisation(name),
            Self::Blocks if name == b"netBlock" => Self::Block,
            Self::Block => match name {
                b"startAddress" => Self::BlockEnd(End::First),
                b"endAddress" => Self::BlockEnd(End::Last),
                b"type" => Self::BlockKind,
                _ => Self::Other,
            },
            Self::Place if name == b"code2" => Self::Value(Slot::Country),
            _ => Self::Other,
        }
    }

    /// Whether the text right in it is wanted.
    pub(super) fn has_text(self) -> bool {
        matches!(self, Self::Outer(_) | Self::BlockEnd(_) | Self::BlockKind | Self::Value(_))
    }
}

fn net(name: &[u8]) -> Element {
    match name {
        b"startAddress" => Element::Outer(End::First),
        b"endAddress" => Element::Outer(End::Last),
        b"netBlocks" => Element::Blocks,
        b"orgHandle" | b"customerHandle" => Element::Value(Slot::Handle),
        b"name" => Element::Value(Slot::Netname),
        b"updateDate" => Element::Value(Slot::Changed),
        _ => Element::Other,
    }
}

fn organisation(name: &[u8]) -> Element {
    match name {
        b"handle" => Element::Value(Slot::Handle),
        b"name" => Element::Value(Slot::Name),
        b"iso3166-1" => Element::Place,
        _ => Element::Other,
    }
}
