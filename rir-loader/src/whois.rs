//! WHOIS dumps: the registries' own databases, object by object.
//!
//! An object is a paragraph of `key: value` lines. Its first key names its class:
//!
//! ```text
//! inetnum:  192.0.2.0 - 192.0.2.99      RIPE, APNIC, AFRINIC (RFC 2622): any range; an attribute continues in the next line
//! descr:    Example Widgets             when that begins with a blank, a tab or a plus sign
//! source:   RIPE
//!
//! inetnum:    192.0.2/24                LACNIC: octets may be left out; the holder's name is in `owner:`
//! NetHandle:  NET-192-0-2-0-1           ARIN: the range is in `NetRange:`, the holder's handle in `OrgID:`
//! ```
//!
//! [`text`] reads the paragraphs, [`xml`] the same objects from ARIN's XML. Both collect the
//! `attributes` that matter and turn them into [`Object`]s.

pub mod address;
mod attributes;
mod object;
mod report;
pub mod text;
pub mod xml;

pub use attributes::decode;
pub use object::{Net, Object, Organisation};
pub use report::WhoisReport;
