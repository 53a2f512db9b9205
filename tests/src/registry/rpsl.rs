//! Objects in the format of RIPE, APNIC and AFRINIC.

use std::io::{self, Write};

use super::nets::Net;

/// A registry that writes RPSL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rpsl {
    /// As in `source:`.
    pub(super) source: &'static str,
    pub(super) countries: &'static [&'static str],
}

impl Rpsl {
    pub(super) fn heading(self, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "#\n# Made up for tests. It says nothing of any real network. ({})\n#\n\n",
            self.source
        )
    }

    pub(super) fn net(self, out: &mut impl Write, net: &Net) -> io::Result<()> {
        let (first, last) = net.ends();
        let source = self.source;
        let customer = net.customer;
        let country = self.countries[customer as usize % self.countries.len()];
        let status = if net.allocation { "ALLOCATED PA" } else { "ASSIGNED PA" };
        if net.placeholder {
            write!(
                out,
                "inetnum:        {first} - {last}\nnetname:        \
                 NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK\n"
            )?;
        } else {
            write!(
                out,
                "inetnum:        {first} - {last}\nnetname:        {country}-CUSTOMER-{customer}\n"
            )?;
        }
        write!(
            out,
            "descr:          Example Customer {customer} of {country}\ndescr:          Some \
             Street {customer}\n"
        )?;
        writeln!(out, "country:        {country}")?;
        if let Some(organisation) = net.organisation {
            writeln!(out, "org:            ORG-EX{organisation}-{source}")?;
        }
        write!(
            out,
            "admin-c:        DUMY-{source}\ntech-c:         DUMY-{source}\nstatus:         \
             {status}\n\
             mnt-by:         EXAMPLE{}-MNT\ncreated:        2004-05-31T08:16:{:02}Z\n\
             last-modified:  20{:02}-05-31T08:16:34Z\nsource:         {source}\n\
             remarks:        ****************************\nremarks:        * This object is made \
             up.\n\
             remarks:        ****************************\n\n",
            customer % 20_000,
            net.first % 60,
            net.last % 25,
        )
    }

    pub(super) fn organisation(self, out: &mut impl Write, number: u32) -> io::Result<()> {
        let source = self.source;
        let country = self.countries[number as usize % self.countries.len()];
        write!(
            out,
            "organisation:   ORG-EX{number}-{source}\norg-name:       Example Organisation \
             {number}\ncountry:        {country}\n\
             org-type:       LIR\naddress:        Dummy address\ne-mail:         \
             unread@example.net\n\
             mnt-ref:        EXAMPLE-MNT\nmnt-by:         EXAMPLE-MNT\ncreated:        \
             2004-05-31T08:16:34Z\n\
             last-modified:  2012-05-31T08:16:34Z\nsource:         {source}\n\n"
        )
    }
}
