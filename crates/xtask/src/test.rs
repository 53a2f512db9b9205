//! `cargo xtask test`: every check there is.

use std::process::Command;

use crate::cargo::cargo;
use crate::steps::Steps;
use crate::{cargo as tools, deny, machine, repository, web};

/// What to test.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave the browser tests out.
    #[arg(long)]
    no_browser: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let no_pages = web::obstacle();
    let browser = no_pages.is_none() && !args.no_browser;
    let mut steps = Steps::new();
    machine::provide(&[machine::POSTGRES])?;
    if browser {
        machine::provide(&[machine::CHROMIUM, machine::FONTS])?;
    }
    pages(&mut steps, no_pages.as_deref());
    lints(&mut steps);
    tests(&mut steps);
    deny::check(&mut steps);
    match (browser, no_pages) {
        (true, _) => browser_tests(&mut steps),
        (false, Some(obstacle)) => steps.skip("browser", obstacle),
        (false, None) => steps.skip("browser", "--no-browser was given"),
    }
    steps.finish()
}

/// First of all, because the coordinator embeds them.
fn pages(steps: &mut Steps, obstacle: Option<&str>) {
    if let Some(obstacle) = obstacle {
        steps.skip("pages", format!("{obstacle}; the coordinator gets its stub page"));
        return;
    }
    steps.record("pages", |_| web::build());
    steps.run("pages: lint", web::script("web-ui", "lint"));
    steps.run("pages: test", web::script("web-ui", "test"));
}

fn lints(steps: &mut Steps) {
    steps.run("format", cargo(&["fmt", "--all", "--check"]));
    steps.run(
        "clippy",
        cargo(&[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ]),
    );
    let mut documentation = cargo(&["doc", "--locked", "--workspace", "--no-deps", "--quiet"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    steps.run("documentation", documentation);
}

fn tests(steps: &mut Steps) {
    // The scenarios start the real programs from the target folder. Tests, too: alone, the programs
    // ask for fewer features of what they depend on, and all of that would be built once more for
    // the tests.
    steps.run("build", cargo(&["build", "--locked", "--workspace", "--bins", "--tests"]));
    if tools::has("nextest") {
        let nextest = cargo(&["nextest", "run", "--locked", "--workspace", "--no-fail-fast"]);
        steps.run_remembering("tests", in_color(nextest), "Summary");
    } else {
        println!(
            "cargo-nextest is not installed (`cargo install --locked cargo-nextest`): cargo's own runner does it"
        );
        without_nextest(steps);
    }
    steps.run("doc tests", cargo(&["test", "--locked", "--workspace", "--doc", "--quiet"]));
}

/// The same tests by cargo's own runner. The worlds of the package `tests` want the machine for
/// themselves.
fn without_nextest(steps: &mut Steps) {
    const TARGETS: [&str; 3] = ["--lib", "--bins", "--tests"];
    let mut parts =
        cargo(&["test", "--locked", "--no-fail-fast", "--workspace", "--exclude", "tests"]);
    parts.args(TARGETS);
    steps.run("tests", parts);
    let mut worlds = cargo(&["test", "--locked", "--no-fail-fast", "--package", "tests"]);
    worlds.args(TARGETS).args(["--", "--test-threads=1"]);
    steps.run("tests: worlds", worlds);
}

/// Its output passes through a pipe of ours, which it would take for a file.
fn in_color(mut command: Command) -> Command {
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command
}

fn browser_tests(steps: &mut Steps) {
    steps.record("browser: npm", |_| web::install("tests/browser"));
    // A small world is put up and crawled; then Chromium looks at it.
    let mut demo = Command::new(repository::binary("nearcrawl-demo"));
    demo.args([
        "--until-done",
        "--made-up-data",
        "--agents",
        "5",
        "--hosts",
        "30",
        "--documents",
        "400",
        "--",
    ]);
    demo.args(["npm", "--prefix"])
        .arg(repository::root().join("tests/browser"))
        .args(["run", "--silent", "test"]);
    steps.run("browser", demo);
}
