//! `cargo xtask fuzz-api`: requests generated from the OpenAPI document, against a coordinator of
//! its own.
//!
//! schemathesis sends valid and invalid requests to every operation, without a session and with one
//! of an admin. A response of status 5xx, an undocumented status or media type, or a body that
//! breaks its schema is an error.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::cargo::cargo;
use crate::machine;
use crate::process::succeed;
use crate::repository;

/// The tested version; another one may find other things.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// What every response is checked for.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
     response_headers_conformance,response_schema_conformance,unsupported_method";

/// Operations that cannot be tested so: the stream of events never ends, and signing out would end
/// the session of all later requests.
const LEFT_OUT: [&str; 2] = ["stream_events", "sign_out"];

const PASSWORD: &str = "only for this coordinator";

/// Signs in and prints the cookie.
const SIGN_IN: &str = "
import json, sys, urllib.request
request = urllib.request.Request(sys.argv[1] + '/api/v1/session',
    json.dumps({'name': 'admin', 'password': sys.argv[2]}).encode(),
    {'content-type': 'application/json'})
print(urllib.request.urlopen(request).headers['set-cookie'].split(';')[0])
";

/// Extent of the run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Generated requests for each operation
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    max_examples: u32,
    /// Seed of the generator, to repeat a run
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    machine::provide(&[machine::POSTGRES, machine::MAKE])?;
    let dir = repository::target().join("fuzz-api");
    let schemathesis = machine::python(&dir, SCHEMATHESIS, "schemathesis")?;
    let mut build = cargo(&["build", "--locked", "--package", "coordinator"]);
    succeed(&mut build, "the build of the coordinator")?;
    let coordinator = Coordinator::start()?;
    let strangers = fuzz(&schemathesis, &coordinator.url, None, args)?;
    let cookie = output(Command::new(schemathesis.with_file_name("python")).args([
        "-c",
        SIGN_IN,
        &coordinator.url,
        PASSWORD,
    ]))?;
    let admins = fuzz(&schemathesis, &coordinator.url, Some(cookie.trim()), args)?;
    if strangers && admins { Ok(()) } else { bail!("some responses broke the document") }
}

/// A coordinator with a private database; it and its files are removed at the end.
struct Coordinator {
    child: Child,
    dir: PathBuf,
    url: String,
}

impl Coordinator {
    fn start() -> anyhow::Result<Self> {
        let dir = std::env::temp_dir().join(format!("nearcrawl-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&dir)
            .with_context(|| format!("cannot create {}", dir.display()))?;
        let config = dir.join("coordinator.toml");
        // Nothing leaves this machine: no registry data is fetched and no name is looked up.
        let text = "resolver = '127.0.0.1:9'\n[registries]\nrefresh_days = 0\nsplit_hours = 0\n\
                    loader = '/bin/false'\n";
        std::fs::write(&config, text).context("cannot write the configuration")?;
        let mut command = Command::new(repository::binary("nearcrawl-coordinator"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(&config);
        command.arg("--data-dir").arg(dir.join("data"));
        command.env_remove("DATABASE_URL").env("NEARCRAWL_ADMIN_PASSWORD", PASSWORD);
        let log = std::fs::File::create(repository::target().join("fuzz-api.log"))
            .context("cannot create the coordinator's log")?;
        let child = command.stdout(Stdio::piped()).stderr(log).spawn();
        let child = child.context("cannot start the coordinator")?;
        // Made before the coordinator answers, so that its files are removed also if it does not.
        let mut started = Self { child, dir, url: String::new() };
        let stdout = started.child.stdout.take().context("the coordinator has no output")?;
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        started.url = url.context(
            "the coordinator did not start; its log is fuzz-api.log in the target directory",
        )?;
        Ok(started)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        // The private server of a coordinator that is killed stops by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Runs schemathesis; false if it found anything.
fn fuzz(schemathesis: &Path, url: &str, cookie: Option<&str>, args: &Args) -> anyhow::Result<bool> {
    println!("{}", if cookie.is_some() { "with a session" } else { "without a session" });
    let mut command = Command::new(schemathesis);
    command.args(["run", "--phases", "examples,coverage,fuzzing", "--checks", CHECKS]);
    command.args(["--max-examples", &args.max_examples.to_string(), "--continue-on-failure"]);
    for operation in LEFT_OUT {
        command.args(["--exclude-operation-id", operation]);
    }
    if let Some(seed) = args.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    if let Some(cookie) = cookie {
        command.args(["--header", &format!("Cookie: {cookie}")]);
    }
    command.arg(format!("{url}/api/v1/openapi.json"));
    Ok(command.status().context("cannot run schemathesis")?.success())
}

fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output().context("cannot run Python")?;
    if !output.status.success() {
        bail!("the admin could not sign in");
    }
    String::from_utf8(output.stdout).context("the cookie is no text")
}
