//! Objects in ARIN's format.

use std::io::{self, Write};

use super::nets::Net;

pub(super) fn net(out: &mut impl Write, net: &Net) -> io::Result<()> {
    let (first, last) = net.ends();
    let [a, b, c, d] = first.octets();
    // ARIN has space of the other registries as nets of a type of their own.
    let kind = match (net.placeholder, net.allocation) {
        (true, _) => "rir",
        (_, true) => "allocation",
        _ => "reassignment",
    };
    writeln!(out, "NetHandle:      NET-{a}-{b}-{c}-{d}-1")?;
    match net.organisation {
        Some(organisation) => writeln!(out, "OrgID:          EXAMP-{organisation}")?,
        None => writeln!(out, "OrgID:          C{:08}", net.customer)?,
    }
    write!(
        out,
        "Parent:         NET-{a}-0-0-0-0\nNetName:        EXAMPLE-{}\nNetRange:       {first} - \
         {last}\n\
         NetType:        {kind}\nRegDate:        2004-05-31\nUpdated:        \
         20{:02}-05-31\nSource:         ARIN\n\n",
        net.customer,
        net.last % 25,
    )
}

/// An organisation; `customer` for those that ARIN numbers.
pub(super) fn organisation(out: &mut impl Write, number: u32, customer: bool) -> io::Result<()> {
    let handle = if customer { format!("C{number:08}") } else { format!("EXAMP-{number}") };
    write!(
        out,
        "OrgID:          {handle}\nOrgName:        Example Organisation {number}\nCanAllocate:    \
         N\n\
         Street:         {number} Some Street\nCity:           Somewhere\nState/Prov:     \
         VA\nCountry:        US\n\
         PostalCode:     20151\nRegDate:        2004-05-31\n\
         Updated:        2012-05-31\nSource:         ARIN\n\n"
    )
}
