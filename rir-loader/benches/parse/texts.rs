//! Generated dumps with attributes as long and as many as in real ones.

use std::fmt::Write;
use std::net::Ipv4Addr;

use rir_loader::format::Format;

/// One text of each format.
pub(crate) fn all(size: usize) -> Vec<(Format, Vec<u8>)> {
    vec![
        (Format::Rpsl, repeat(size, rpsl)),
        (Format::Lacnic, repeat(size, lacnic)),
        (Format::ArinText, repeat(size, arin)),
        (Format::ArinXml, wrap(&repeat(size, xml_net))),
        (Format::Delegated, delegated(size)),
    ]
}

fn repeat(size: usize, mut object: impl FnMut(&mut String, u32)) -> Vec<u8> {
    let mut text = String::with_capacity(size + 4096);
    let mut place = 0;
    while text.len() < size {
        object(&mut text, place);
        place += 1;
    }
    text.into_bytes()
}

fn ends(place: u32) -> (Ipv4Addr, Ipv4Addr) {
    let first = 0x0b00_0000_u32.wrapping_add(place * 64);
    // One in 64 is no prefix.
    let last = first + if place.is_multiple_of(64) { 40 } else { 63 };
    (first.into(), last.into())
}

fn rpsl(text: &mut String, place: u32) {
    let (first, last) = ends(place);
    write!(
        text,
        "inetnum:        {first} - {last}\nnetname:        CUSTOMER-NET-{place}\ndescr:          \
         Example Widgets {place}\n\
         descr:          Some street {place}\ncountry:        NL\nadmin-c:        \
         DUMY-RIPE\ntech-c:         DUMY-RIPE\n\
         status:         ASSIGNED PA\nmnt-by:         EXAMPLE-{place}-MNT\ncreated:        \
         2004-05-31T08:16:34Z\n\
         last-modified:  2012-05-31T08:16:34Z\nsource:         RIPE\n\
         remarks:        ****************************\nremarks:        * THE PLACE OF A NOTE\n\
         remarks:        * that says what was taken out of this object and why it is so\n\
         remarks:        ****************************\n\n"
    )
    .unwrap();
}

fn lacnic(text: &mut String, place: u32) {
    let first = Ipv4Addr::from_bits(0x0b00_0000 + place * 256);
    let [a, b, c, _] = first.octets();
    write!(
        text,
        "inetnum:    {a}.{b}.{c}/24\nstatus:     reallocated\nowner:      Organiza\u{e7}\u{e3}o \
         {place}\ncity:       Tlapan\n\
         country:    BR\nowner-c:    ABC{place}\ntech-c:     ABC{place}\ninetnum-up: \
         {a}.{b}/16\ncreated:    20041130\n\
         changed:    20121130\nsource:     LACNIC\n\n"
    )
    .unwrap();
}

fn arin(text: &mut String, place: u32) {
    let (first, last) = ends(place);
    write!(
        text,
        "NetHandle:      NET-{place}-1\nOrgID:          C{place:08}\nParent:         \
         NET-10-0-0-0-0\n\
         NetName:        CUSTOMER-{place}\nNetRange:       {first} - {last}\nNetType:        \
         reassignment\n\
         RegDate:        2004-05-31\nUpdated:        2012-05-31\nSource:         ARIN\n\n"
    )
    .unwrap();
}

fn xml_net(text: &mut String, place: u32) {
    let (first, last) = ends(place);
    writeln!(
        text,
        "<net><endAddress>{last}</endAddress><handle>NET-{place}-1</handle>\
         <name>CUSTOMER-{place}</name><netBlocks><netBlock><cidrLenth>26</cidrLenth>\
         <endAddress>{last}</endAddress><startAddress>{first}</startAddress><type>S</type>\
         </netBlock></netBlocks><orgHandle>C{place:08}</orgHandle>\
         <parentNetHandle>NET-10-0-0-0-0</parentNetHandle>\
         <registrationDate>2004-05-31T00:00:00-04:00</registrationDate>\
         <startAddress>{first}</startAddress><updateDate>2012-05-31T00:00:00-04:00</updateDate>\
         <version>4</version></net>"
    )
    .unwrap();
}

fn wrap(nets: &[u8]) -> Vec<u8> {
    [
        b"<?xml version=\"1.0\"?><bulkwhois xmlns=\"http://www.arin.net/bulkwhois/core/v1\">\n",
        nets,
        b"</bulkwhois>\n",
    ]
    .concat()
}

fn delegated(size: usize) -> Vec<u8> {
    let mut records = 0;
    let rows = repeat(size, |text, place| {
        let first = Ipv4Addr::from_bits(0x0b00_0000 + place * 256);
        writeln!(
            text,
            "ripencc|FR|ipv4|{first}|256|20100712|allocated|d91963c1-e981-4a3b-{place:012}"
        )
        .unwrap();
        records += 1;
    });
    [format!("2|ripencc|1539467999|{records}|19830705|20181013|+0200\n").as_bytes(), &rows].concat()
}
