//! What is hidden from the search, and how coordinators notice changes.

use model::{CrawlUrl, HiddenId, HiddenKind, HiddenTarget};
use store::hidden_from_search::{self as hidden, ENTRIES_MAX, HideOutcome};
use store::testing::{TestDatabase, execute};
use store::{Store, audit};

use crate::world::NOW;

async fn hide(store: &Store, target: &str) -> HideOutcome {
    let target = HiddenTarget::parse(target).unwrap();
    hidden::hide(store, &target, "a court order", "ada", NOW).await.unwrap()
}

async fn targets(store: &Store) -> Vec<String> {
    let all = hidden::list(store, i64::MAX, ENTRIES_MAX).await.unwrap();
    all.into_iter().map(|hidden| hidden.target).collect()
}

#[tokio::test]
async fn what_is_hidden_is_listed_until_it_is_lifted() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let page = "https://example.org/leaked";
    assert_eq!(hidden::changes(store).await.unwrap(), 0);
    assert_eq!(hide(store, "example.org").await, HideOutcome::Hidden(HiddenId::new(1)));
    assert_eq!(hide(store, "EXAMPLE.org").await, HideOutcome::Already);
    let HideOutcome::Hidden(id) = hide(store, page).await else { panic!("it is new") };
    assert_eq!(hidden::changes(store).await.unwrap(), 2, "an attempt is no change");
    assert_eq!(targets(store).await, [page, "example.org"]);
    let found = hidden::find(store, id).await.unwrap().unwrap();
    assert_eq!((found.kind, &*found.target), (HiddenKind::Page, page));
    let find_any = async |url| {
        let url = CrawlUrl::parse(url).unwrap();
        hidden::find_any(store, &url).await.unwrap().map(|hidden| hidden.kind)
    };
    let spelling = "https://example.org/%6ceaked?utm_source=n";
    assert_eq!(find_any(spelling).await, Some(HiddenKind::Page));
    assert_eq!(find_any("https://example.org/leaked/more").await, Some(HiddenKind::Site));
    assert_eq!(find_any("http://www.example.org/").await, Some(HiddenKind::Site));
    assert_eq!(find_any("https://other.example/leaked").await, None);

    assert!(hidden::lift(store, id, "eve", NOW).await.unwrap());
    assert!(!hidden::lift(store, id, "eve", NOW).await.unwrap());
    assert_eq!(
        (targets(store).await, hidden::changes(store).await.unwrap()),
        (vec!["example.org".into()], 3)
    );
    let log = audit::list(store, &audit::Filter::default(), i64::MAX, 10).await.unwrap();
    let log: Vec<_> =
        log.iter().map(|entry| (&*entry.actor, &*entry.action, &*entry.subject)).collect();
    let expected = [
        ("eve", "search.show", page),
        ("ada", "search.hide", page),
        ("ada", "search.hide", "example.org"),
    ];
    assert_eq!(log, expected);
}

#[tokio::test]
async fn the_list_has_a_limit() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let fill = "INSERT INTO hidden_from_search (target, kind, reason, hidden_by, hidden_at)
         SELECT n || '.example', 'site', 'r', 'ada', now() FROM generate_series(2, 10000) n";
    execute(store, fill).await.unwrap();
    assert!(matches!(hide(store, "last.example").await, HideOutcome::Hidden(_)));
    assert_eq!(hide(store, "more.example").await, HideOutcome::Full);
    assert_eq!(hide(store, "last.example").await, HideOutcome::Already);
}
