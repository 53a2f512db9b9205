//! Objects in LACNIC's format, in ISO 8859-1.

use std::io::{self, Write};

use super::nets::Net;

pub(super) fn net(out: &mut impl Write, net: &Net) -> io::Result<()> {
    let (first, last) = net.ends();
    let size = net.last - net.first + 1;
    if size.is_power_of_two() && net.first.is_multiple_of(size) {
        writeln!(out, "inetnum:    {first}/{}", 32 - size.ilog2())?;
    } else {
        writeln!(out, "inetnum:    {first} - {last}")?;
    }
    out.write_all(b"status:     reallocated\nowner:      Organiza\xe7\xe3o de Exemplo ")?;
    write!(
        out,
        "{customer}\ncity:       Lugar\ncountry:    BR\nowner-c:    EXA{customer}\ntech-c:     \
         EXA{customer}\n\
         inetnum-up: {}/8\ncreated:    2004-05-31\nchanged:    20{:02}-05-31\nsource:     \
         LACNIC\n\n",
        net.first >> 24,
        net.last % 25,
        customer = net.customer,
    )
}
