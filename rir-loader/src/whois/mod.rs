//! WHOIS dumps: the registries' own databases, object by object.
//!
//! An object is a paragraph of `key: value` lines. Its first key names its class:
//!
//! ```text
//! inetnum:    192.0.2.0 - 192.0.2.99
//! descr:      Example Widgets
//! source:     RIPE
//! ```
//!
//! RIPE, APNIC and AFRINIC (RFC 2622) write any range, and continue an attribute in a line that
//! begins with a blank, a tab or a plus sign. LACNIC leaves out octets (`inetnum: 192.0.2/24`) and
//! has the holder's name in `owner:`. ARIN's nets begin with `NetHandle:`; the range is in
//! `NetRange:` and the holder's handle in `OrgID:`.
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
