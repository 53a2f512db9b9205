//! Damaged and malicious dumps are refused in bounded memory and without a panic.

use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use rir_loader::TextError;
use rir_loader::format::Format;
use rir_loader::read::{Options, read};
use rir_loader::whois;

use crate::fixtures::documentation;
use crate::whois::{RPSL, objects};

fn write(dir: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join("x");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// So many valid objects, and then one more.
fn with_bad(good: u32, bad: &str) -> String {
    let net = |place: u32| {
        let first = std::net::Ipv4Addr::from_bits(0x0a00_0000 + place * 256);
        format!("inetnum: {first}/24\nnetname: N{place}\nsource: RIPE\n\n")
    };
    (0..good).map(net).collect::<String>() + bad
}

#[test]
fn a_malformed_object_is_counted_with_its_line_and_text() {
    let dir = tempfile::tempdir().unwrap();
    for (bad, example) in [
        (
            "inetnum: 192.0.2.0 - 192.0.2.999\nnetname: X\nsource: RIPE\n",
            "line 401: the range `192.0.2.0 - 192.0.2.999` is neither a prefix (a/n) nor a range \
             (a - b): `inetnum: \
             192.0.2.0 - 192.0.2.999`",
        ),
        (
            "inetnum: 192.0.2.0/24\nno attribute\nsource: RIPE\n",
            "line 402: no `key: value` on this line: `no attribute`",
        ),
        (
            "inetnum: 192.0.2.0/24\nsource: NOWHERE\n",
            "line 401: `source: NOWHERE` names none of the five registries: `inetnum: \
             192.0.2.0/24`",
        ),
        ("inetnum: 192.0.2.0/24\nnetname: X\n\n", "line 401: `source: ` names none"),
        ("inetnum:\nsource: RIPE\n", "line 401: no range of addresses: `inetnum:`"),
        ("organisation: \nsource: RIPE\n", "line 401: an organisation without a handle"),
        ("inetnum: 192.0.2.0/24\nnetname: A\0B\nsource: RIPE\n", "line 401: NUL bytes in a value"),
        ("inetnum: 192.0.2.9/24\nsource: RIPE\n", "has bits set beyond its prefix length"),
    ] {
        let data =
            read(&[write(&dir, with_bad(100, bad).as_bytes())], documentation(), &|_| {}).unwrap();
        assert_eq!((data.rejected(), data.settled.nets), (1, 100), "{bad}");
        let said = data.files[0].rejects().examples[0].to_string();
        assert!(said.contains(example), "{said}");
        // One in 99 is more than one in a hundred.
        let path = write(&dir, with_bad(98, bad).as_bytes());
        let error =
            read(std::slice::from_ref(&path), Options::default(), &|_| {}).unwrap_err().to_string();
        assert!(
            error.contains("1 of its 99 objects are malformed") && error.contains("--force"),
            "{error}"
        );
        let forced = Options { force: true, ..documentation() };
        assert_eq!(read(&[path], forced, &|_| {}).unwrap().settled.nets, 98);
    }
}

#[test]
fn ten_million_attributes_are_one_malformed_object() {
    struct Repeat(u64);
    impl Read for Repeat {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            const LINE: &[u8] = b"remarks: again and again\n";
            let lines = (buffer.len() / LINE.len()).min(usize::try_from(self.0).unwrap());
            for place in 0..lines {
                buffer[place * LINE.len()..][..LINE.len()].copy_from_slice(LINE);
            }
            self.0 -= lines as u64;
            Ok(lines * LINE.len())
        }
    }
    let text = (&b"inetnum: 192.0.2.0/24\n"[..])
        .chain(BufReader::new(Repeat(10_000_000)))
        .chain(&b"source: RIPE\n"[..]);
    let report = whois::text::read(Format::Rpsl, text, &mut |_| {}).unwrap();
    assert_eq!((report.objects, report.rejects.count, report.lines), (1, 1, 10_000_002));
    assert!(report.rejects.examples[0].reason.contains("more than 100,000 lines"));
}

#[test]
fn an_endless_line_is_given_up() {
    for start in [&b"inetnum: "[..], b"# ", b"person: x\nremarks: "] {
        let error = whois::text::read(
            Format::Rpsl,
            start.chain(BufReader::new(std::io::repeat(b'a'))),
            &mut |_| {},
        )
        .unwrap_err();
        assert!(matches!(error, TextError::LongLine { .. }), "{error}");
    }
    let error = whois::xml::read(
        (&b"<bulkwhois a='"[..]).chain(BufReader::new(std::io::repeat(b'a'))),
        &mut |_| {},
    )
    .unwrap_err();
    assert!(matches!(error, TextError::Read { .. }), "{error}");
}

#[test]
fn a_long_line_costs_its_object_only() {
    let long =
        format!("inetnum: 192.0.2.0/24\nremarks: {}\nsource: RIPE\n\n", "x".repeat(1_000_000));
    let (objects, report) = objects(Format::Rpsl, (long + RPSL).as_bytes()).unwrap();
    assert_eq!((objects.len(), report.rejects.count), (4, 1));
    assert!(report.rejects.examples[0].to_string().starts_with("line 2: longer than 65,536 bytes"));
}

#[test]
fn a_gzip_bomb_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(b"inetnum: 192.0.2.0/24\nsource: RIPE\n\n").unwrap();
    let line = b"# nothing here but a comment that packs very well, again and again and again\n"
        .repeat(1_000);
    (0..4_000).for_each(|_| encoder.write_all(&line).unwrap());
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 2_000_000, "{}", bomb.len());
    let error =
        anyhow::Error::from(read(&[write(&dir, &bomb)], Options::default(), &|_| {}).unwrap_err());
    let said = format!("{error:#}");
    assert!(said.contains("unpacks to more than 200 times its size"), "{said}");
}

#[test]
fn a_dump_that_was_cut_short_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let whole = with_bad(100, "");
    let cut = whole.len() - 20;
    let error = read(&[write(&dir, &whole.as_bytes()[..cut])], Options::default(), &|_| {})
        .unwrap_err()
        .to_string();
    assert!(error.contains("it was cut short, fetch it again"), "{error}");
    let packed = crate::fixtures::gzip(whole.as_bytes());
    let error = read(&[write(&dir, &packed[..packed.len() - 9])], Options::default(), &|_| {})
        .unwrap_err()
        .to_string();
    assert!(error.contains("fetch it again"), "{error}");
    // A last line without an end is no harm when the object is whole.
    assert!(read(&[write(&dir, whole.trim_end().as_bytes())], documentation(), &|_| {}).is_ok());
}

/// Lines of dumps, and arbitrary bytes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "inetnum: 192.0.2.0 - 192.0.2.9",
        "inetnum: 24.232.16/24",
        "inet6num: 2001:db8::/32",
        "NetHandle: N",
        "NetRange: 192.0.2.0 - 192.0.2.9",
        "OrgID: X",
        "organisation: O",
        "org: O",
        "source: RIPE",
        "",
        " ",
        "+ more",
        "\tmore",
        "# comment",
        "% comment",
        "owner: S\u{e3}o",
        "descr: x",
        "country: NL",
        "country: ZZ",
        "mnt-by: A, B",
        "changed: x 20030303",
        "<net>",
        "</net>",
        "<bulkwhois>",
        "<handle>&amp;",
        "1.2.3.0/24,1,x",
    ]);
    prop_oneof![
        4 => known.prop_map(|line| line.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(lines in prop::collection::vec(line(), 0..60)) {
        let bytes = lines.join(&b'\n');
        for format in [Format::Rpsl, Format::Lacnic, Format::ArinText, Format::ArinXml] {
            if let Ok((objects, report)) = objects(format, &bytes) {
                let taken = report.ranges.iter().sum::<u64>() + report.organisations;
                prop_assert_eq!(objects.len() as u64, taken);
                prop_assert!(report.rejects.count <= report.objects);
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let _ = read(&[write(&dir, &bytes)], Options::default(), &|_| {});
    }

    #[test]
    fn objects_are_the_same_however_the_bytes_arrive(
        lines in prop::collection::vec(line(), 0..40),
        size in 1_usize..50,
    ) {
        struct ShortReads<'b>(&'b [u8], usize);
        impl Read for ShortReads<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let length = self.1.min(buffer.len()).min(self.0.len());
                buffer[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let bytes = lines.join(&b'\n');
        let mut in_parts = vec![];
        let input = BufReader::new(ShortReads(&bytes, size));
        let report = whois::text::read(Format::Rpsl, input, &mut |object| {
            in_parts.push(crate::whois::describe(object));
        });
        match (report, objects(Format::Rpsl, &bytes)) {
            (Ok(report), Ok((whole, other))) => prop_assert_eq!((in_parts, report), (whole, other)),
            (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
            (one, other) => prop_assert!(false, "{one:?} {other:?}"),
        }
    }
}
