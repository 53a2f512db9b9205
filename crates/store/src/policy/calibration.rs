//! The settings of calibration (IPMicra III.F).

use model::Slowdown;
use model::policy::CalibrationPolicy;
use sqlx::{FromRow, PgConnection};

use crate::StoreError;

#[derive(FromRow)]
struct Row {
    revisit_s: i32,
    slowdown_percent: i32,
    slowdown_repeats: i16,
    rest_s: i32,
    calibration_window_s: i32,
}

pub(super) async fn read(db: &mut PgConnection) -> Result<CalibrationPolicy, StoreError> {
    let row: Row = sqlx::query_as(include_str!("read.sql"))
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("read the policy of calibration"))?;
    Ok(CalibrationPolicy {
        revisit_s: row.revisit_s.unsigned_abs(),
        slowdown: Slowdown {
            percent: row.slowdown_percent.unsigned_abs(),
            repeats: row.slowdown_repeats.unsigned_abs().into(),
        },
        rest_s: row.rest_s.unsigned_abs(),
        window_s: row.calibration_window_s.unsigned_abs(),
    })
}

pub(super) async fn write(
    db: &mut PgConnection,
    calibration: &CalibrationPolicy,
) -> Result<(), StoreError> {
    let column = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    sqlx::query(include_str!("write_calibration.sql"))
        .bind(column(calibration.revisit_s))
        .bind(column(calibration.slowdown.percent))
        .bind(i16::try_from(calibration.slowdown.repeats).unwrap_or(i16::MAX))
        .bind(column(calibration.rest_s))
        .bind(column(calibration.window_s))
        .execute(db)
        .await
        .map_err(StoreError::doing("change the policy of calibration"))?;
    Ok(())
}
