//! The RIPE NCC's samples of every registry's dump, where they are at hand: each object and field
//! as its own text shows it.
//!
//! The texts are not ours to keep: the snapshots hold ranges, handles and counts, and of a sentence
//! its length. The sentences themselves are compared with a second, naive reading of the same text.

use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rir_loader::dialect::Dialect;
use rir_loader::read::{Options, read, read_with};
use rir_loader::whois::Object;

use crate::whois::objects;

/// The sample's path, or `None` and a word about it.
fn sample(name: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/whois-samples");
    let path = dir.join(name);
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
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
fn compare(name: &str, dialect: Dialect, keys: &[&str]) {
    let Some(path) = sample(name) else { return };
    let bytes = unpacked(&path);
    let (text, _) = rir_loader::whois::decode::decode(&bytes);
    let mut read = vec![];
    rir_loader::whois::read_text(dialect, text.as_bytes(), &mut |object| {
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
    compare("TEST.db", Dialect::Rpsl, &rpsl);
    compare("afrinic.test.gz", Dialect::Rpsl, &rpsl);
    let lacnic = [
        "inetnum:", "\0", "\0", "inetnum", "ownerid", "owner", "descr", "netname", "\0", "status",
        "country",
    ];
    compare("lacnic.test", Dialect::Lacnic, &lacnic);
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
    compare("arin.test.zip", Dialect::ArinText, &arin);
}

#[test]
fn the_organisations_are_those_that_the_text_shows() {
    let Some(path) = sample("TEST.db") else { return };
    let bytes = unpacked(&path);
    let (text, _) = rir_loader::whois::decode::decode(&bytes);
    let mut read = vec![];
    rir_loader::whois::read_text(Dialect::Rpsl, text.as_bytes(), &mut |object| {
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
fn snapshot(name: &str, dialect: Dialect) -> Option<String> {
    let (objects, report) = objects(dialect, &unpacked(&sample(name)?)).unwrap();
    let classes: Vec<_> =
        report.classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
    let counts = (report.objects, report.rejects.count, report.latin1);
    let objects: Vec<_> = objects.iter().map(|object| without_sentences(object)).collect();
    Some(format!(
        "{}\nobjects, rejected, latin-1: {counts:?}\n{}\n",
        classes.join(", "),
        objects.join("\n")
    ))
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
fn afrinic() {
    let Some(read) = snapshot("afrinic.test.gz", Dialect::Rpsl) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn apnic() {
    let Some(read) = snapshot("apnic.test.gz", Dialect::Rpsl) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn ripe() {
    let Some(read) = snapshot("ripe.test.gz", Dialect::Rpsl) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn ripe_test_database() {
    let Some(read) = snapshot("TEST.db", Dialect::Rpsl) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn arin() {
    let Some(read) = snapshot("arin.test.zip", Dialect::ArinText) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn lacnic() {
    let Some(read) = snapshot("lacnic.test", Dialect::Lacnic) else { return };
    insta::assert_snapshot!(read);
}

#[test]
fn routing_registries_are_refused_with_a_reason() {
    for name in ["jpirr.test.gz", "radb.test.gz"] {
        let Some(path) = sample(name) else { return };
        let error = read(&[path], &|_| {}).unwrap_err().to_string();
        assert!(error.contains("holds the routes of a routing registry"), "{error}");
    }
}

#[test]
fn all_samples_make_one_hierarchy() {
    let names = [
        "afrinic.test.gz",
        "apnic.test.gz",
        "arin.test.zip",
        "lacnic.test",
        "ripe.test.gz",
        "TEST.db",
    ];
    let Some(paths) = names.map(sample).into_iter().collect::<Option<Vec<_>>>() else { return };
    let nested =
        read_with(&paths, Options { origins: true, ..Options::default() }, &|_| {}).unwrap();
    // 2 + 3 + 2 + 68 ranges, of which RIPE's two of everything and 10.0.0.0/8 of IANA stand for no
    // holder.
    assert_eq!((nested.settled.nets, nested.settled.placeholders), (75, 3));
    let links = rir_loader::inspect::chain(&nested, &"24.232.16.9".parse().unwrap());
    let leaf = links.last().unwrap();
    assert_eq!(
        (leaf.range.as_str(), leaf.company.as_deref()),
        ("24.232.16.0/24", Some("Description"))
    );
    assert!(leaf.source.as_deref().unwrap().ends_with("lacnic.test"));
}
