//! A new database begins with the default policy.

use model::Policy;
use model::policy::{BalancePolicy, DiscoveryQuotas};
use store::policy;
use store::testing::TestDatabase;

#[tokio::test]
async fn a_new_database_has_the_default_policy() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    assert_eq!(policy::read(store).await.unwrap(), Policy::default());
    assert_eq!(policy::balance(store).await.unwrap(), BalancePolicy::default());
    assert_eq!(policy::discovery(store).await.unwrap(), DiscoveryQuotas::default());
}
