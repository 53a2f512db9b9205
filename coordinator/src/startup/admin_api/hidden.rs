//! `admin hidden`: what no search shows.

use reqwest::Method;
use serde_json::json;

use crate::runtime::failure::Failure;
use crate::startup::admin_api::cli::HiddenCommand;
use crate::startup::admin_api::client::ApiClient;
use crate::startup::admin_api::print::{self, Column};
use crate::startup::admin_api::{print_list, segment};

const HIDDEN: [Column; 6] = [
    ("ID", "/id"),
    ("KIND", "/kind"),
    ("HIDDEN", "/hidden_at"),
    ("BY", "/hidden_by"),
    ("TARGET", "/target"),
    ("REASON", "/reason"),
];

pub(super) async fn run(api: &ApiClient, command: HiddenCommand) -> Result<(), Failure> {
    match command {
        HiddenCommand::List(list) => print_list(api, "hidden", &[], &list, &HIDDEN).await,
        HiddenCommand::Add { target, reason } => {
            let body = json!({ "target": target, "reason": reason });
            let hidden = api.call(Method::POST, "hidden", &[], Some(&body)).await?;
            print::table(&[hidden], &HIDDEN);
            Ok(())
        }
        HiddenCommand::Remove { id } => {
            let path = format!("hidden/{}", segment(&id));
            api.call(Method::DELETE, &path, &[], None).await.map(drop)
        }
    }
}
