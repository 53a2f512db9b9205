//! WHOIS dumps: the registries' own databases, object by object.
//!
//! An object is a paragraph of `key: value` lines, its first key says what it is:
//!
//! ```text
//! inetnum:  192.0.2.0 - 192.0.2.99      RIPE, APNIC, AFRINIC (RFC 2622): any range; attributes may go on in the next line
//! descr:    Example Widgets             when that begins with a blank, a tab or a plus sign
//! source:   RIPE
//!
//! inetnum:    192.0.2/24                LACNIC: octets may be left out; the holder's name is in `owner:`
//! NetHandle:  NET-192-0-2-0-1           ARIN: the range is in `NetRange:`, the holder's handle in `OrgID:`
//! ```
//!
//! [`file`] cuts the lines of a text into objects, [`slot`] knows which attribute is wanted where,
//! [`draft`] collects them in bounded memory, [`object`] is what comes out. [`xml`] reads the same
//! from ARIN's XML. Text is UTF-8 or ISO 8859-1 ([`decode`]), ranges are written in many ways
//! ([`address`]).

pub mod address;
pub mod decode;
mod draft;
mod fault;
mod file;
pub mod object;
mod report;
mod slot;
mod xml;

pub use fault::Fault;
pub use file::read_text;
pub(crate) use file::{LONGEST_LINE, read_lines};
pub use object::{Net, Object, Organisation};
pub use report::WhoisReport;
pub use xml::read_xml;
