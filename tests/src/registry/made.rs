//! The dump files of all registries.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::nets::{Net, Shares, Size, nets};
use super::rpsl::Rpsl;
use super::{arin, lacnic};

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Made {
    pub files: Vec<PathBuf>,
    /// Ranges in all of them.
    pub nets: u64,
    /// Organisations in all of them.
    pub organisations: u64,
}

const RIPE: Rpsl =
    Rpsl { source: "RIPE", countries: &["NL", "DE", "FR", "RU", "GB", "IT", "PL", "UA"] };
const APNIC: Rpsl =
    Rpsl { source: "APNIC", countries: &["CN", "JP", "IN", "AU", "ID", "KR", "VN"] };
const AFRINIC: Rpsl = Rpsl { source: "AFRINIC", countries: &["ZA", "NG", "EG", "KE"] };

/// Writes dumps of all five registries into a directory that exists. At `scale` 1 they are as large
/// as today's: 4.3 million ranges of RIPE, 1.2 of APNIC, 3.3 of ARIN, 0.5 of LACNIC, 0.2 of
/// AFRINIC, and their organisations.
pub fn make(dir: &Path, scale: f64, seed: u64) -> io::Result<Made> {
    let size = |nets: u32, organisations: u32, space| {
        let scaled = |count: u32| (f64::from(count) * scale) as u32;
        Size { nets: scaled(nets), organisations: scaled(organisations), space }
    };
    let mut made = Made::default();
    let ripe = size(4_300_000, 130_000, (77, 36));
    made.rpsl(dir, "ripe.db.inetnum.gz", RIPE, ripe, seed, false)?;
    made.file(dir, "ripe.db.organisation.gz", |out| organisations(out, RIPE, ripe))?;
    made.organisations += u64::from(ripe.organisations);
    made.rpsl(
        dir,
        "apnic.db.inetnum.gz",
        APNIC,
        size(1_200_000, 40_000, (113, 30)),
        seed + 1,
        false,
    )?;
    made.rpsl(dir, "afrinic.db.gz", AFRINIC, size(200_000, 5_000, (196, 2)), seed + 2, true)?;
    made.arin(dir, size(3_300_000, 400_000, (12, 60)), seed + 3)?;
    made.lacnic(dir, size(500_000, 1, (177, 10)), seed + 4)?;
    Ok(made)
}

impl Made {
    fn rpsl(
        &mut self,
        dir: &Path,
        name: &str,
        rpsl: Rpsl,
        size: Size,
        seed: u64,
        whole: bool,
    ) -> io::Result<()> {
        let nets = self.file(dir, name, |out| {
            rpsl.heading(out)?;
            let written = each(nets(size, Shares::default(), seed), |net| rpsl.net(out, net))?;
            if whole {
                organisations(out, rpsl, size)?;
            }
            Ok(written)
        })?;
        self.nets += nets;
        self.organisations += if whole { u64::from(size.organisations) } else { 0 };
        Ok(())
    }

    fn arin(&mut self, dir: &Path, size: Size, seed: u64) -> io::Result<()> {
        let shares = Shares { no_organisation: 0.6, ..Shares::default() };
        let nets = self.file(dir, "arin_db.txt.gz", |out| {
            let written = each(nets(size, shares, seed), |net| arin::net(out, net))?;
            (0..size.organisations)
                .try_for_each(|number| arin::organisation(out, number, false))?;
            (0..size.nets / 3).try_for_each(|number| arin::organisation(out, number, true))?;
            Ok(written)
        })?;
        self.nets += nets;
        self.organisations += u64::from(size.organisations + size.nets / 3);
        Ok(())
    }

    fn lacnic(&mut self, dir: &Path, size: Size, seed: u64) -> io::Result<()> {
        self.nets += self.file(dir, "lacnic.db.gz", |out| {
            each(nets(size, Shares::default(), seed), |net| lacnic::net(out, net))
        })?;
        Ok(())
    }

    fn file<T>(
        &mut self,
        dir: &Path,
        name: &str,
        write: impl FnOnce(&mut BufWriter<GzEncoder<File>>) -> io::Result<T>,
    ) -> io::Result<T> {
        let path = dir.join(name);
        let packed = GzEncoder::new(File::create(&path)?, Compression::new(6));
        let mut out = BufWriter::with_capacity(1 << 20, packed);
        let written = write(&mut out)?;
        out.into_inner()?.finish()?.sync_all()?;
        self.files.push(path);
        Ok(written)
    }
}

fn each(
    nets: impl Iterator<Item = Net>,
    mut write: impl FnMut(&Net) -> io::Result<()>,
) -> io::Result<u64> {
    let mut written = 0;
    for net in nets {
        write(&net)?;
        written += 1;
    }
    Ok(written)
}

fn organisations(out: &mut impl Write, rpsl: Rpsl, size: Size) -> io::Result<()> {
    (0..size.organisations).try_for_each(|number| rpsl.organisation(out, number))
}
