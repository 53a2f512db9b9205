//! Which attribute is wanted where.

use crate::dialect::Dialect;

/// What an object is, as its first key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Net,
    Organisation,
    /// People, routes and whatever else is passed over.
    Other,
}

/// A place for a value in a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Range,
    /// Of a net: the handle of its holder; of an organisation: its own.
    Handle,
    Owner,
    Description,
    Netname,
    Maintainer,
    Status,
    Country,
    Source,
    /// Of an organisation.
    Name,
    Changed,
}

/// How many slots there are.
pub(super) const SLOTS: usize = Slot::Changed as usize + 1;

/// The class of an object whose first attribute has this key, and where the value of that attribute
/// belongs.
pub(super) fn class_of(dialect: Dialect, key: &[u8]) -> (Class, Option<Slot>) {
    match dialect {
        Dialect::ArinText => match key {
            b"NetHandle" | b"V6NetHandle" => (Class::Net, None),
            b"OrgID" | b"CustID" | b"CustHandle" | b"CustomerHandle" => {
                (Class::Organisation, Some(Slot::Handle))
            }
            _ => (Class::Other, None),
        },
        _ => match key {
            b"inetnum" | b"inet6num" => (Class::Net, Some(Slot::Range)),
            b"organisation" => (Class::Organisation, Some(Slot::Handle)),
            _ => (Class::Other, None),
        },
    }
}

/// Where the value of an attribute belongs, when it is wanted.
pub(super) fn slot_of(dialect: Dialect, class: Class, key: &[u8]) -> Option<Slot> {
    match (dialect, class) {
        (_, Class::Other) => None,
        (Dialect::ArinText, Class::Net) => arin_net(key),
        (Dialect::ArinText, Class::Organisation) => arin_organisation(key),
        (Dialect::Lacnic, Class::Net) => lacnic_net(key),
        (_, Class::Net) => rpsl_net(key),
        (_, Class::Organisation) => rpsl_organisation(key),
    }
}

fn rpsl_net(key: &[u8]) -> Option<Slot> {
    Some(match key {
        b"netname" => Slot::Netname,
        b"descr" => Slot::Description,
        b"country" => Slot::Country,
        b"org" => Slot::Handle,
        b"mnt-by" => Slot::Maintainer,
        b"status" => Slot::Status,
        b"source" => Slot::Source,
        b"changed" | b"last-modified" => Slot::Changed,
        _ => return None,
    })
}

fn lacnic_net(key: &[u8]) -> Option<Slot> {
    Some(match key {
        b"owner" => Slot::Owner,
        b"ownerid" => Slot::Handle,
        _ => return rpsl_net(key),
    })
}

fn rpsl_organisation(key: &[u8]) -> Option<Slot> {
    Some(match key {
        b"org-name" => Slot::Name,
        b"country" => Slot::Country,
        b"source" => Slot::Source,
        _ => return None,
    })
}

fn arin_net(key: &[u8]) -> Option<Slot> {
    Some(match key {
        b"NetRange" => Slot::Range,
        b"OrgID" | b"CustID" | b"CustHandle" | b"CustomerHandle" => Slot::Handle,
        b"CustName" | b"OrgName" => Slot::Owner,
        b"NetName" => Slot::Netname,
        b"NetType" => Slot::Status,
        b"Country" => Slot::Country,
        b"Updated" => Slot::Changed,
        b"Source" => Slot::Source,
        _ => return None,
    })
}

fn arin_organisation(key: &[u8]) -> Option<Slot> {
    Some(match key {
        b"OrgName" | b"CustName" => Slot::Name,
        b"Country" => Slot::Country,
        b"Source" => Slot::Source,
        _ => return None,
    })
}
