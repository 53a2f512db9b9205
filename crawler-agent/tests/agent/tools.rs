//! Commands that show what the agent decides: `guard` and `package show`. Those of `robots` and
//! `extract` need no agent, and are tested beside their code.

use std::process::Output;

use serde_json::Value;

use crate::{testbed::TestBed, web::html};

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn guard_names_the_rule_that_refuses() {
    let mut bed = TestBed::new(1).await;
    bed.configure("guard", "deny_hosts = [\"denied.test\"]");
    let url = bed.web.page("a1.test", "/page", html("x"));
    let permitted = bed.run(&["guard", &url]).await;
    assert_eq!(permitted.status.code(), Some(0), "{permitted:?}");
    assert_eq!(lines(&permitted), [format!("permitted  {url} (127.1.0.1)")]);
    let refused = bed.run(&["guard", "--json", "10.0.0.1", "http://www.denied.test/", &url]).await;
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let verdicts: Vec<Value> =
        lines(&refused).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let permitted: Vec<bool> =
        verdicts.iter().map(|verdict| verdict["permitted"] == Value::Bool(true)).collect();
    assert_eq!(permitted, [false, false, true]);
    assert_eq!(verdicts[0]["reason"], "10.0.0.1 is not on the public internet (private)");
    assert_eq!(verdicts[1]["reason"], "the owner denies the host www.denied.test");
}

#[tokio::test(flavor = "multi_thread")]
async fn package_show_lists_what_was_shipped() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/page", html("some text"));
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until_reported(std::slice::from_ref(&url)).await;
    let (ended, _) = bed.stop().await;
    assert!(ended.success());
    let packages: Vec<_> = bed.coordinator.state().packages.values().cloned().collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("1.ncpk");
    let mut shown = Vec::new();
    for package in &packages {
        std::fs::write(&file, package).unwrap();
        let output = bed.run(&["package", "show", file.to_str().unwrap()]).await;
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        shown.extend(lines(&output));
    }
    assert!(shown[0].starts_with("package 1 of epoch "), "{shown:?}");
    let page = format!("fetch       {url}: page with status 200");
    assert!(shown.iter().any(|line| line.starts_with(&page)), "{shown:?}");

    let mut forged = packages[0].to_vec();
    let last = forged.len() - 1;
    forged[last] ^= 1;
    std::fs::write(&file, forged).unwrap();
    let output = bed.run(&["package", "show", file.to_str().unwrap()]).await;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the body's hash is not the one in the signed header"), "{said}");
}
