//! `cargo xtask test`: runs every check and names what was left out.

use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::Context as _;

use crate::background::Background;
use crate::cargo::{cargo, idle_cargo};
use crate::optional::Optional;
use crate::process::succeed;
use crate::selection::Selection;
use crate::steps::Steps;
use crate::{cargo as tools, deny, machine, repository, web};

/// Checks to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave something out; the summary names it. May be given several times.
    #[arg(long, value_name = "NAME")]
    without: Vec<Optional>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let without = |optional| args.without.contains(&optional);
    let mut steps = Steps::new();
    let browser = !without(Optional::Node) && !without(Optional::Browser);
    machine::provide(&[machine::POSTGRES, machine::MAKE])?;
    if !without(Optional::Prometheus) {
        machine::provide(&[machine::PROMETHEUS])?;
    }
    if browser {
        machine::provide(&[machine::CHROMIUM, machine::FONTS])?;
    }
    if without(Optional::Node) {
        steps.leave_out("pages: build, lint, test", Optional::Node.reason());
    } else {
        // Before anything is built, because the coordinator embeds the pages.
        web::provide_node()?;
        steps.record("pages", web::build);
    }
    steps.run("format", cargo(&["fmt", "--all", "--check"]));
    if !build(&mut steps) {
        println!("the build failed, so nothing was tested: its errors are above");
        return steps.finish();
    }
    let beside = tests(&mut steps, &args.without)?;
    if browser {
        browser_tests(&mut steps);
    } else {
        let cause = if without(Optional::Node) { Optional::Node } else { Optional::Browser };
        steps.leave_out("browser", cause.reason());
    }
    if let Some(beside) = beside {
        beside.join(&mut steps);
    }
    deny::check(&mut steps, &args.without);
    steps.finish()
}

/// Checks of the code that need nothing but processors, and hardly wait. They leave these to the
/// tests.
fn lints(without: &[Optional]) -> Vec<(&'static str, Command)> {
    const CLIPPY: [&str; 8] =
        ["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    // Documentation of the other programs, a page each, would take a check of their whole crates.
    const DOC: [&str; 8] =
        ["doc", "--locked", "--workspace", "--no-deps", "--quiet", "--lib", "--bin", "xtask"];
    const DOC_TESTS: [&str; 5] = ["test", "--locked", "--workspace", "--doc", "--quiet"];
    let mut documentation = idle_cargo(&DOC);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    let mut lints = vec![
        ("clippy", idle_cargo(&CLIPPY)),
        ("documentation", documentation),
        ("doc tests", idle_cargo(&DOC_TESTS)),
    ];
    if !without.contains(&Optional::Node) {
        lints.push(("pages: lint", web::check("lint")));
        lints.push(("pages: test", web::check("test")));
    }
    lints
}

/// Builds everything that the tests and the demo run. False when that failed.
///
/// The scenarios start the real programs from the target directory. The tests are built in the same
/// call: alone, the programs enable fewer features of their dependencies, which would all be built
/// a second time for the tests.
fn build(steps: &mut Steps) -> bool {
    steps.run("build", cargo(&["build", "--locked", "--workspace", "--bins", "--tests"]));
    steps.last_passed()
}

/// Returns the checks that still run beside the tests.
fn tests(steps: &mut Steps, without: &[Optional]) -> anyhow::Result<Option<Background>> {
    let mut beside = None;
    let selection = Selection::of(&repository::root(), without)?;
    if tools::has("nextest") {
        beside = Some(with_nextest(steps, &selection, without));
    } else {
        println!("cargo-nextest is not installed (`cargo install --locked cargo-nextest`):");
        println!("the tests run with cargo's own runner, which is slower");
        for (name, command) in lints(without) {
            steps.run(name, command);
        }
        without_nextest(steps, &selection);
    }
    for test in selection.by_hand {
        steps.leave_to_hand(test.title());
    }
    for (test, reason) in selection.left_out {
        steps.leave_out(test.title(), format!("{} ({reason})", test.reason));
    }
    Ok(beside)
}

/// The tests, and after them the browser, wait for delays and for each other half of the time.
/// Meanwhile the lints run, and cargo-deny is installed where it is missing.
fn with_nextest(steps: &mut Steps, selection: &Selection, without: &[Optional]) -> Background {
    // While the lints run, they hold the lock of the target directory, for which nextest would wait
    // to see whether anything must be built. It is told what was built instead.
    let list = repository::target().join("test-programs.json");
    steps.record("tests: list", || list_programs(&list));
    let mut beside = lints(without);
    if !without.contains(&Optional::Deny) {
        beside.extend(tools::installation("deny").map(|command| ("cargo-deny", command)));
    }
    let beside = Background::start(beside);
    let mut nextest = cargo(&["nextest", "run", "--no-fail-fast", "--binaries-metadata"]);
    nextest.arg(list).args(selection.nextest_arguments());
    nextest.arg("--test-threads").arg(test_threads().to_string());
    steps.run_with_highlight("tests", in_color(nextest), "Summary");
    beside
}

/// Writes the list of the test programs that were built.
fn list_programs(path: &Path) -> anyhow::Result<()> {
    // Empties an earlier list: if this fails, none of its programs may run.
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut list = cargo(&["nextest", "list", "--locked", "--workspace"]);
    list.args(["--list-type", "binaries-only", "--message-format", "json"]);
    list.stdout(file);
    succeed(&mut list, "cargo nextest list")
}

/// How many tests run at a time: three for each processor, because most wait for the database, for
/// delays, or for other processes. With four for each they end no sooner.
fn test_threads() -> usize {
    3 * thread::available_parallelism().map_or(1, NonZero::get)
}

/// The same tests with cargo's own runner. The scenarios of the package `tests` measure
/// milliseconds, so they run one at a time.
fn without_nextest(steps: &mut Steps, selection: &Selection) {
    const TARGETS: [&str; 4] = ["--lib", "--bins", "--tests", "--"];
    let mut crates =
        cargo(&["test", "--locked", "--no-fail-fast", "--workspace", "--exclude", "tests"]);
    crates.args(TARGETS).args(selection.libtest_arguments());
    steps.run("tests", crates);
    let mut scenarios = cargo(&["test", "--locked", "--no-fail-fast", "--package", "tests"]);
    scenarios.args(TARGETS).args(selection.libtest_arguments()).arg("--test-threads=1");
    steps.run("tests: scenarios", scenarios);
}

/// Its output passes through a pipe, which the program would take for a file.
fn in_color(mut command: Command) -> Command {
    if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command
}

/// Chromium tests the dashboard of a small demo that has been crawled.
fn browser_tests(steps: &mut Steps) {
    steps.record("browser: npm", || web::install("tests/browser"));
    let mut demo = Command::new(repository::binary("nearcrawl-demo"));
    demo.args(["--until-done", "--made-up-data", "--agents", "5", "--hosts", "30"]);
    demo.args(["--documents", "400", "--"]);
    demo.args(["npm", "--prefix"])
        .arg(repository::root().join("tests/browser"))
        .args(["run", "--silent", "test"]);
    steps.run("browser", demo);
}
