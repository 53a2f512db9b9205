use super::{Promise, Verdict};

fn promise(kept: bool) -> Promise {
    Promise { what: "pigs fly", seen: "none did".to_owned(), kept }
}

#[test]
fn a_missed_promise_is_told_and_fails_the_run() {
    let verdict = Verdict::of(vec![promise(true), promise(false)]);
    assert_eq!(verdict.exit_code(), 1);
    assert_eq!(verdict.to_string(), "MISSED: pigs fly: none did");
    assert_eq!(Verdict::of(vec![promise(true)]).exit_code(), 0);
    assert_eq!(Verdict::of(vec![promise(true)]).and(promise(true)), Verdict::Kept);
    assert_eq!(Verdict::of(vec![promise(true)]).and(promise(false)).exit_code(), 1);
}
