//! Downloads of WHOIS dumps, which have no published checksum.

use std::time::Duration;

use rir_loader::fetch::{FetchError, FetchOptions, LocalFile, RemoteFile, RetryPolicy, fetch};
use tempfile::TempDir;

use crate::command::{json, run, stderr};
use crate::fixtures::{self, gzip};
use crate::server::{Fault, Server};

const RETRY: RetryPolicy =
    RetryPolicy { attempts: 3, connections: 2, pause: Duration::from_millis(1) };
const NAME: &str = "apnic.db.inetnum.gz";

fn dump(company: &str) -> Vec<u8> {
    let object = |n: u8| {
        format!(
            "inetnum:        192.0.2.{n} - 192.0.2.{n}\nnetname:        EXAMPLE\ndescr:          \
             {company} {n}\n\
             country:        AU\nsource:         APNIC\n\n"
        )
    };
    gzip((0..=255).map(object).collect::<String>().as_bytes())
}

struct Fixture {
    server: Server,
    dir: TempDir,
}

impl Fixture {
    async fn with(body: &[u8], edition: &str) -> Self {
        let server = Server::start().await;
        server.publish_at(NAME, body, edition);
        Self { server, dir: tempfile::tempdir().unwrap() }
    }

    fn remote(&self) -> RemoteFile {
        self.server.mirror().dumps().remove(0)
    }

    async fn fetch(&self) -> Result<LocalFile, FetchError> {
        let options = FetchOptions { retry: RETRY, contact: Some("mailto:ops@example.org") };
        fetch(&self.remote(), self.dir.path(), options, &|_| {}).await
    }

    fn assert_holds(&self, body: &[u8]) {
        assert!(std::fs::read(self.dir.path().join(NAME)).unwrap() == body);
    }

    /// What was asked of the dump: the condition or the range.
    fn asked(&self) -> Vec<String> {
        let asked = self.server.asked().into_iter().filter(|asked| asked.path.ends_with(NAME));
        asked
            .map(|asked| asked.condition.or(asked.range).unwrap_or_else(|| "all".to_owned()))
            .collect()
    }
}

#[tokio::test]
async fn a_dump_is_fetched_once_while_the_server_has_nothing_newer() {
    for edition in ["\"one\"", "Sat, 13 Oct 2018 00:00:00 GMT"] {
        let fixture = Fixture::with(&dump("one"), edition).await;
        assert!(!fixture.fetch().await.unwrap().up_to_date);
        assert!(fixture.fetch().await.unwrap().up_to_date);
        assert_eq!(fixture.asked(), ["all", edition]);
        fixture.server.publish_at(NAME, &dump("two"), "\"two\"");
        assert!(!fixture.fetch().await.unwrap().up_to_date);
        fixture.assert_holds(&dump("two"));
        // Somebody meddled with the file: the server's word is of no use.
        std::fs::write(fixture.dir.path().join(NAME), b"cut").unwrap();
        assert_eq!(fixture.asked(), [edition]);
        fixture.fetch().await.unwrap();
        assert_eq!(fixture.asked(), ["all"]);
        fixture.assert_holds(&dump("two"));
    }
}

#[tokio::test]
async fn a_dump_goes_on_where_it_broke_off_and_is_checked_by_what_it_says_of_itself() {
    let body = dump("one");
    let fixture = Fixture::with(&body, "\"one\"").await;
    fixture.server.with(NAME, [Fault::CutAfter(100)]);
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.asked(), ["all", "bytes=100-"]);
    fixture.assert_holds(&body);
    let mut damaged = dump("two");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    for bad in [&damaged[..], &body[..middle], b"<html>Welcome</html>"] {
        fixture.server.publish_at(NAME, bad, "\"bad\"");
        let error = fixture.fetch().await.unwrap_err();
        assert!(matches!(error, FetchError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("nothing was kept"), "{error}");
        fixture.assert_holds(&body);
    }
}

#[tokio::test]
async fn a_sum_that_is_published_counts() {
    let body = dump("one");
    let fixture = Fixture::with(&body, "\"one\"").await;
    let sum =
        |text: &str| fixture.server.publish_at("apnic.db.inetnum.gz.md5", text.as_bytes(), "");
    sum("00000000000000000000000000000000  apnic.db.inetnum.gz\n");
    let error = fixture.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::Checksum { .. }), "{error}");
    sum("<html>no such file</html>");
    assert!(!fixture.fetch().await.unwrap().up_to_date);
}

#[tokio::test]
async fn a_busy_server_is_left_alone_and_knows_who_asks() {
    let fixture = Fixture::with(&dump("one"), "\"one\"").await;
    fixture.server.with(NAME, [Fault::Later(0)]);
    fixture.fetch().await.unwrap();
    let asked = fixture.server.asked();
    assert_eq!(asked.len(), 3, "the sum, the dump, the dump again");
    assert!(
        asked.iter().all(|asked| asked
            .agent
            .as_ref()
            .unwrap()
            .ends_with(" (mailto:ops@example.org)"))
    );
    // An hour is longer than anybody waits.
    fixture.server.publish_at(NAME, &dump("two"), "\"two\"");
    fixture.server.with(NAME, [Fault::Later(3600)]);
    let error = fixture.fetch().await.unwrap_err().to_string();
    assert!(
        error.contains("503 Service Unavailable: the server has a problem or wants fewer requests"),
        "{error}"
    );
    assert_eq!(fixture.asked().len(), 1);
}

#[tokio::test]
async fn the_command_shows_the_terms_and_how_to_get_what_is_not_open() {
    let fixture = Fixture::with(&dump("one"), "\"one\"").await;
    for name in ["apnic.db.inet6num.gz", "apnic.db.organisation.gz"] {
        fixture.server.publish_at(name, &dump("x"), "\"one\"");
    }
    fixture.server.publish(fixtures::text("apnic").as_bytes(), "\"one\"");
    let dir = fixture.dir.path().display().to_string();
    let base = |registry: &str| format!("{registry}={}", fixture.server.base());
    let apnic = base("apnic");
    let arin = base("arin");
    let arguments =
        ["fetch", "--whois", "--dir", &dir, "--registry", "apnic", "--base-url", &apnic, "--json"];
    let output = run(&[&arguments[..], &["--whois-base-url", &apnic]].concat()).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output).as_array().unwrap().len(), 4);
    assert!(
        stderr(&output).contains("terms of the WHOIS data of apnic: no copy in bulk"),
        "{}",
        stderr(&output)
    );
    // What was fetched can be loaded, marks of editions and all.
    let stats = json(&run(&["stats", "--json", &dir]).await);
    assert_eq!(stats["sources"].as_array().unwrap().len(), 4);

    let output =
        run(&["fetch", "--whois", "--dir", &dir, "--registry", "arin", "--base-url", &arin]).await;
    assert!(stderr(&output).contains("arin: no WHOIS dump is fetched. ARIN gives its bulk WHOIS"));
    let output = run(&["fetch", "--dir", &dir, "--contact", "a b"]).await;
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
