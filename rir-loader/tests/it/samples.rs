//! The RIPE NCC's samples of every registry's dump.
//!
//! The samples are not part of the project: the snapshots hold ranges, handles and
//! counts, and of a sentence its length. The sentences themselves are compared with a second, naive
//! parser of the same text.

use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rir_loader::format::Format;
use rir_loader::read::{Options, read};
use rir_loader::whois::Object;

use crate::read_files::chain_of;
use crate::whois::objects;

/// Path of a sample. The tests that use it are ignored unless the samples are there.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/whois-samples").join(name)
}

fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = vec![];
    match bytes.first() {
        Some(0x1f) => {
            flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
        }
        Some(b'P') => {
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            zip.by_name("arin_db.txt").unwrap().read_to_end(&mut text).unwrap();
        }
        _ => text = bytes,
    }
    text
}

/// The value of the first attribute of that key in a paragraph; comments and further lines cut off.
fn naive<'p>(paragraph: &'p str, key: &str) -> Option<&'p str> {
    let attribute = |line: &'p str| line.strip_prefix(key)?.trim_start().strip_prefix(':');
    let value = paragraph.lines().find_map(attribute)?;
    Some(value.split(" #").next()?.trim()).filter(|value| !value.is_empty())
}

/// Paragraphs that begin with one of the keys.
fn paragraphs<'t>(text: &'t str, keys: &[&str]) -> impl Iterator<Item = &'t str> {
    let all = text.split("\n\n").map(|paragraph| paragraph.trim_start_matches('\n'));
    all.filter(move |paragraph| keys.iter().any(|key| paragraph.starts_with(key)))
}

/// First and last address of `a - b`, `a/n` or LACNIC's `a.b/n`.
fn naive_range(value: &str) -> String {
    if let Some((first, last)) = value.split_once(" - ") {
        let [first, last] = [first, last].map(|end| end.parse::<IpAddr>().unwrap());
        return format!("{first} {last}");
    }
    let (address, length) = value.split_once('/').unwrap();
    let missing = if address.contains(':') { 0 } else { 3 - address.matches('.').count() };
    let net: ipnet::IpNet = format!("{address}{}/{length}", ".0".repeat(missing)).parse().unwrap();
    match net {
        ipnet::IpNet::V4(net) => format!("{} {}", net.network(), net.broadcast()),
        ipnet::IpNet::V6(net) => format!("{} {}", net.network(), net.broadcast()),
    }
}

/// Every net of the text: range, holder's words, country, as a reader who knows nothing of
/// continuations sees them.
fn naive_nets(text: &str, keys: &[&str]) -> Vec<Vec<Option<String>>> {
    let values = |paragraph| {
        let range = keys[3].split('|').find_map(|key| naive(paragraph, key)).map(naive_range);
        let words = keys[4..].iter().map(|key| naive(paragraph, key).map(str::to_owned));
        std::iter::once(range).chain(words).collect()
    };
    paragraphs(text, &keys[..3]).map(values).collect()
}

/// The same out of what the loader read.
fn compare(name: &str, format: Format, keys: &[&str]) {
    let path = sample(name);
    let bytes = unpacked(&path);
    let text = rir_loader::whois::decode(&bytes);
    let mut read = vec![];
    rir_loader::whois::text::read(format, text.as_bytes(), &mut |object| {
        let Object::Net(net) = object else { return };
        let country = net.country.map(|country| country.to_string());
        let words =
            [net.organisation, net.owner, net.description, net.netname, net.maintainer, net.status];
        let mut values = vec![Some(format!("{} {}", net.range.first(), net.range.last()))];
        values.extend(words.into_iter().map(|word| word.map(str::to_owned)));
        values.push(country);
        read.push(values);
    })
    .unwrap();
    let mut naive = naive_nets(&text, keys);
    naive
        .iter_mut()
        .filter_map(|net| net.last_mut())
        .flatten()
        .for_each(|country| country.make_ascii_uppercase());
    assert!(!naive.is_empty());
    assert_eq!(read, naive);
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn the_fields_are_those_that_the_text_shows() {
    let rpsl = [
        "inetnum:",
        "inet6num:",
        "\0",
        "inetnum|inet6num",
        "org",
        "\0",
        "descr",
        "netname",
        "mnt-by",
        "status",
        "country",
    ];
    compare("TEST.db", Format::Rpsl, &rpsl);
    compare("afrinic.test.gz", Format::Rpsl, &rpsl);
    let lacnic = [
        "inetnum:", "\0", "\0", "inetnum", "ownerid", "owner", "descr", "netname", "\0", "status",
        "country",
    ];
    compare("lacnic.test", Format::Lacnic, &lacnic);
    let arin = [
        "NetHandle:",
        "V6NetHandle:",
        "\0",
        "NetRange",
        "OrgID",
        "\0",
        "\0",
        "NetName",
        "\0",
        "NetType",
        "Country",
    ];
    compare("arin.test.zip", Format::ArinText, &arin);
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn the_organisations_are_those_that_the_text_shows() {
    let path = sample("TEST.db");
    let bytes = unpacked(&path);
    let text = rir_loader::whois::decode(&bytes);
    let mut read = vec![];
    rir_loader::whois::text::read(Format::Rpsl, text.as_bytes(), &mut |object| {
        let Object::Organisation(one) = object else { return };
        read.push([Some(one.handle.to_owned()), one.name.map(str::to_owned)]);
    })
    .unwrap();
    let values = |paragraph| {
        ["organisation", "org-name"].map(|key| naive(paragraph, key).map(str::to_owned))
    };
    let naive: Vec<_> = paragraphs(&text, &["organisation:"]).map(values).collect();
    assert_eq!((read.len(), &read), (33, &naive));
}

/// Objects and classes of a sample as a snapshot.
fn snapshot(name: &str, format: Format) -> String {
    let (objects, report) = objects(format, &unpacked(&sample(name))).unwrap();
    let classes: Vec<_> =
        report.classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
    let counts = (report.objects, report.rejects.count);
    let objects: Vec<_> = objects.iter().map(|object| without_sentences(object)).collect();
    format!("{}\nobjects, rejected: {counts:?}\n{}\n", classes.join(", "), objects.join("\n"))
}

/// What somebody wrote, replaced by its length.
fn without_sentences(object: &str) -> String {
    let organisation = object.starts_with("organisation");
    let field = |(place, field): (usize, &str)| match field.split_once(' ') {
        Some((key @ ("owner" | "descr"), words)) if words != "-" => {
            format!("{key} {} letters", words.chars().count())
        }
        _ if organisation && place == 2 => format!("{} letters", field.chars().count()),
        _ => field.to_owned(),
    };
    object.split(" | ").enumerate().map(field).collect::<Vec<_>>().join(" | ")
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn afrinic() {
    insta::assert_snapshot!(snapshot("afrinic.test.gz", Format::Rpsl));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn apnic() {
    insta::assert_snapshot!(snapshot("apnic.test.gz", Format::Rpsl));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn ripe() {
    insta::assert_snapshot!(snapshot("ripe.test.gz", Format::Rpsl));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn ripe_test_database() {
    insta::assert_snapshot!(snapshot("TEST.db", Format::Rpsl));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn arin() {
    insta::assert_snapshot!(snapshot("arin.test.zip", Format::ArinText));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn lacnic() {
    insta::assert_snapshot!(snapshot("lacnic.test", Format::Lacnic));
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn routing_registries_are_refused_with_a_reason() {
    for name in ["jpirr.test.gz", "radb.test.gz"] {
        let path = sample(name);
        let error = read(&[path], Options::default(), &|_| {}).unwrap_err().to_string();
        assert!(error.contains("holds the routes of a routing registry"), "{error}");
    }
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn all_samples_make_one_hierarchy() {
    let names = [
        "afrinic.test.gz",
        "apnic.test.gz",
        "arin.test.zip",
        "lacnic.test",
        "ripe.test.gz",
        "TEST.db",
    ];
    let paths = names.map(sample);
    let data = read(&paths, Options { origins: true, ..Options::default() }, &|_| {}).unwrap();
    // 2 + 3 + 2 + 68 ranges, of which RIPE's two of everything and 10.0.0.0/8 of IANA stand for no
    // holder.
    assert_eq!((data.settled.nets, data.settled.placeholders), (75, 3));
    let links = chain_of(&data, "24.232.16.9");
    let leaf = links.last().unwrap();
    assert_eq!(
        (leaf.range.as_str(), leaf.company.as_deref()),
        ("24.232.16.0/24", Some("Description"))
    );
    assert!(leaf.source.as_deref().unwrap().ends_with("lacnic.test"));
}
