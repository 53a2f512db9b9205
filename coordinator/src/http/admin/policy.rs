//! The settings that admins may change while everything runs.

use axum::extract::State;
use model::policy::{BalancePolicy, CalibrationPolicy, ProbesADay};
use serde_json::json;
use store::{audit, policy};

use crate::http::admin::dto::{BalancePass, Policy, PolicyChange};
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::events::Event;

/// The policy in force.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "get_policy", tag = "work",
    security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn read(_viewer: Viewer, State(state): State<ApiState>) -> Result<Json<Policy>, Problem> {
    let store = &state.core.store;
    Ok(Json(shown(&policy::read(store).await?, &policy::balance(store).await?)))
}

/// Change the policy; strategy and threshold hold for searches opened from now on, the rest at
/// once.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "put_policy", tag = "work",
    request_body = PolicyChange, security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn write(
    admin: Admin,
    State(state): State<ApiState>,
    Json(wish): Json<PolicyChange>,
) -> Result<Json<Policy>, Problem> {
    let core = &state.core;
    let before = policy::read(&core.store).await?;
    let balance_before = policy::balance(&core.store).await?;
    let (after, balance) = (changed(before, &wish), balance_changed(&balance_before, &wish));
    // The entry comes first: a change without one must not be.
    let detail =
        json!({ "before": shown(&before, &balance_before), "after": shown(&after, &balance) });
    let entry = audit::Entry {
        actor: &admin.name,
        action: "policy.change",
        subject: "policy",
        detail: &detail,
    };
    audit::write(&core.store, &entry, core.now()).await?;
    core.policy.change(after, core.now()).await?;
    if balance != balance_before {
        policy::set_balance(&core.store, &balance, core.now()).await?;
        core.events.emit(Event::BalancePolicyChanged);
    }
    Ok(Json(shown(&after, &balance)))
}

fn balance_changed(before: &BalancePolicy, wish: &PolicyChange) -> BalancePolicy {
    BalancePolicy {
        rule: wish.balance_rule.unwrap_or(before.rule),
        passes: wish.balance_pass.map_or(before.passes, |pass| pass == BalancePass::Optimal),
        moves_a_day: wish.balance_moves_a_day.unwrap_or(before.moves_a_day),
        least_gain_ms: wish.balance_least_gain_ms.unwrap_or(before.least_gain_ms),
    }
}

fn changed(before: model::Policy, wish: &PolicyChange) -> model::Policy {
    let (probes, slow) = (before.probes, before.calibration);
    let ms = |value: Option<u32>, before| value.map_or(before, |value| value.saturating_mul(1_000));
    model::Policy {
        strategy: wish.strategy.unwrap_or(before.strategy),
        threshold_us: ms(wish.threshold_ms, before.threshold_us),
        patience_ms: ms(wish.patience_s, before.patience_ms),
        parallel: wish.parallel.unwrap_or(before.parallel),
        samples: wish
            .samples
            .and_then(|samples| u8::try_from(samples).ok())
            .unwrap_or(before.samples),
        probes: ProbesADay {
            per_agent: wish.probes_per_agent.unwrap_or(probes.per_agent),
            per_target: wish.probes_per_target.unwrap_or(probes.per_target),
            in_all: wish.probes_in_all.unwrap_or(probes.in_all),
        },
        landmarks: wish.landmarks.unwrap_or(before.landmarks),
        landmark_days: wish.landmark_days.unwrap_or(before.landmark_days),
        crawl: model::CrawlPolicy {
            host_delay_ms: wish.host_delay_ms.unwrap_or(before.crawl.host_delay_ms),
            ..before.crawl
        },
        calibration: CalibrationPolicy {
            revisit_s: wish.revisit_s.unwrap_or(slow.revisit_s),
            slowdown: model::Slowdown {
                percent: wish.slowdown_percent.unwrap_or(slow.slowdown.percent),
                repeats: wish.slowdown_repeats.unwrap_or(slow.slowdown.repeats),
            },
            rest_s: wish.rest_s.unwrap_or(slow.rest_s),
            window_s: wish.hearing_s.unwrap_or(slow.window_s),
        },
    }
}

/// Whole milliseconds and seconds, rounded up: what is shown may be sent back.
fn shown(policy: &model::Policy, balance: &BalancePolicy) -> Policy {
    Policy {
        strategy: policy.strategy,
        threshold_ms: policy.threshold_us.div_ceil(1_000),
        patience_s: policy.patience_ms.div_ceil(1_000),
        parallel: policy.parallel,
        samples: policy.samples.into(),
        probes_per_agent: policy.probes.per_agent,
        probes_per_target: policy.probes.per_target,
        probes_in_all: policy.probes.in_all,
        landmarks: policy.landmarks,
        landmark_days: policy.landmark_days,
        host_delay_ms: policy.crawl.host_delay_ms,
        revisit_s: policy.calibration.revisit_s,
        slowdown_percent: policy.calibration.slowdown.percent,
        slowdown_repeats: policy.calibration.slowdown.repeats,
        rest_s: policy.calibration.rest_s,
        hearing_s: policy.calibration.window_s,
        balance_rule: balance.rule,
        balance_pass: if balance.passes { BalancePass::Optimal } else { BalancePass::Off },
        balance_moves_a_day: balance.moves_a_day,
        balance_least_gain_ms: balance.least_gain_ms,
    }
}
