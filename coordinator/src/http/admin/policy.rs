//! Policy: the settings that admins may change while the coordinator runs.

use axum::extract::State;
use model::policy::{BalancePolicy, CalibrationPolicy, DiscoveryQuotas, ProbesADay};
use model::{CrawlPolicy, PolicyPreset};
use serde_json::json;
use store::policy::Settings;
use store::{audit, policy};

use crate::http::admin::dto::balance::BalancePass;
use crate::http::admin::dto::policy::{Policy, PolicyChange};
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::events::Event;

/// The present policy.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "get_policy",
    tag = "seeds and policy", security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn get(_viewer: Viewer, State(state): State<ApiState>) -> Result<Json<Policy>, Problem> {
    Ok(Json(to_dto(&policy::settings(&state.core.store).await?)))
}

/// The policy of a new installation.
#[utoipa::path(get, path = "/api/v1/policy/defaults", operation_id = "get_policy_defaults",
    tag = "seeds and policy", security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn defaults(_viewer: Viewer) -> Json<Policy> {
    Json(to_dto(&Settings::default()))
}

/// Change the policy. Strategy and threshold apply to searches opened from now on, the rest at
/// once.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "update_policy",
    tag = "seeds and policy", request_body = PolicyChange, security(("session" = [])),
    responses((status = 200, body = Policy)))]
pub async fn update(
    admin: Admin,
    State(state): State<ApiState>,
    Json(change): Json<PolicyChange>,
) -> Result<Json<Policy>, Problem> {
    let core = &state.core;
    let mut locked = policy::lock(&core.store).await?;
    let before = *locked.settings();
    let after = changed(before, &change);
    let detail = json!({ "before": to_dto(&before), "after": to_dto(&after) });
    let entry = audit::Entry::new(&admin.name, "policy.change", "policy", detail);
    locked.write_audit(&entry, core.now()).await?;
    locked.replace(&after, core.now()).await?;
    // Of two concurrent changes the earlier may be put in place last; `refresh_policy` repairs
    // that.
    core.policy.replace(after.policy);
    // The leader may be another coordinator, which would open searches by the former policy.
    core.peer_hints.wake_task("refresh_policy");
    if after.balance != before.balance {
        core.events.emit(Event::BalancePolicyChanged);
    }
    Ok(Json(to_dto(&after)))
}

fn changed(before: Settings, change: &PolicyChange) -> Settings {
    let (policy, balance) = match change.preset {
        Some(preset) => preset.apply(before.policy, before.balance),
        None => (before.policy, before.balance),
    };
    Settings {
        policy: policy_changed(policy, change),
        balance: balance_changed(&balance, change),
        quotas: quotas_changed(&before.quotas, change),
    }
}

fn quotas_changed(before: &DiscoveryQuotas, change: &PolicyChange) -> DiscoveryQuotas {
    DiscoveryQuotas {
        urls_per_agent: change.discovered_urls_per_agent.unwrap_or(before.urls_per_agent),
        hosts_per_agent: change.discovered_hosts_per_agent.unwrap_or(before.hosts_per_agent),
        urls_per_host: change.discovered_urls_per_host.unwrap_or(before.urls_per_host),
    }
}

fn balance_changed(before: &BalancePolicy, change: &PolicyChange) -> BalancePolicy {
    BalancePolicy {
        rule: change.balance_rule.unwrap_or(before.rule),
        passes: change.balance_pass.map_or(before.passes, |pass| pass == BalancePass::Optimal),
        moves_a_day: change.balance_moves_per_day.unwrap_or(before.moves_a_day),
        least_gain_ms: change.balance_least_gain_ms.unwrap_or(before.least_gain_ms),
    }
}

fn policy_changed(before: model::Policy, change: &PolicyChange) -> model::Policy {
    let probes = before.probes;
    let slow = before.calibration;
    let ms = |value: Option<u32>, before| value.map_or(before, |value| value.saturating_mul(1_000));
    model::Policy {
        strategy: change.strategy.unwrap_or(before.strategy),
        threshold_us: ms(change.threshold_ms, before.threshold_us),
        patience_ms: ms(change.patience_s, before.patience_ms),
        parallel: change.parallel_probes.unwrap_or(before.parallel),
        samples: change
            .samples_per_probe
            .and_then(|samples| u8::try_from(samples).ok())
            .unwrap_or(before.samples),
        probes: ProbesADay {
            per_agent: change.probes_per_agent.unwrap_or(probes.per_agent),
            per_target: change.probes_per_target.unwrap_or(probes.per_target),
            in_all: change.probes_total.unwrap_or(probes.in_all),
        },
        control_permille: change.control_permille.unwrap_or(before.control_permille),
        crawl: crawl_changed(&before.crawl, change),
        calibration: CalibrationPolicy {
            revisit_s: change.revisit_s.unwrap_or(slow.revisit_s),
            revisit_least_s: change.revisit_least_s.unwrap_or(slow.revisit_least_s),
            slowdown: model::Slowdown {
                percent: change.slowdown_percent.unwrap_or(slow.slowdown.percent),
                repeats: change.slowdown_repeats.unwrap_or(slow.slowdown.repeats),
            },
            rest_s: change.incident_cooldown_s.unwrap_or(slow.rest_s),
            window_s: change.incident_window_s.unwrap_or(slow.window_s),
        },
    }
}

fn crawl_changed(before: &CrawlPolicy, change: &PolicyChange) -> CrawlPolicy {
    let depth = change.link_depth.and_then(|depth| u8::try_from(depth).ok());
    CrawlPolicy {
        host_delay_ms: change.host_delay_ms.unwrap_or(before.host_delay_ms),
        pages_a_host: change.pages_per_host.unwrap_or(before.pages_a_host),
        depth: depth.unwrap_or(before.depth),
        ..*before
    }
}

/// Rounds up to whole milliseconds and seconds, so that a policy that was read may be sent back.
fn to_dto(settings: &Settings) -> Policy {
    let Settings { policy, balance, quotas } = settings;
    Policy {
        preset: PolicyPreset::of(policy, balance),
        strategy: policy.strategy,
        threshold_ms: policy.threshold_us.div_ceil(1_000),
        patience_s: policy.patience_ms.div_ceil(1_000),
        parallel_probes: policy.parallel,
        samples_per_probe: policy.samples.into(),
        probes_per_agent: policy.probes.per_agent,
        probes_per_target: policy.probes.per_target,
        probes_total: policy.probes.in_all,
        control_permille: policy.control_permille,
        host_delay_ms: policy.crawl.host_delay_ms,
        pages_per_host: policy.crawl.pages_a_host,
        link_depth: policy.crawl.depth.into(),
        revisit_s: policy.calibration.revisit_s,
        revisit_least_s: policy.calibration.revisit_least_s,
        slowdown_percent: policy.calibration.slowdown.percent,
        slowdown_repeats: policy.calibration.slowdown.repeats,
        incident_cooldown_s: policy.calibration.rest_s,
        incident_window_s: policy.calibration.window_s,
        balance_rule: balance.rule,
        balance_pass: if balance.passes { BalancePass::Optimal } else { BalancePass::Off },
        balance_moves_per_day: balance.moves_a_day,
        balance_least_gain_ms: balance.least_gain_ms,
        discovered_urls_per_agent: quotas.urls_per_agent,
        discovered_hosts_per_agent: quotas.hosts_per_agent,
        discovered_urls_per_host: quotas.urls_per_host,
    }
}
