//! Updates of a running agent: it looks for a release of the operator, downloads its program,
//! examines it, puts it to use and has the agent restarted.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use model::AgentId;
use protocol::release::{Applicant, Program, Release};
use semver::Version;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    AgentError,
    readiness::{Readiness, ReadinessSignal},
};
use crate::{
    clock,
    config::{BudgetRules, Limits, UpdateRules},
    coordinator_client::CoordinatorClient,
    disk, error_line,
    file::{self, FileError},
    lock::lock,
    owner::{budget::Usage, gate::Gate},
    update::{Programs, TARGET, UpdateError, UpdateStatus, download, examination},
};

/// Least time between two looks at the release; a random part of the same is added.
const PERIOD: Duration = Duration::from_hours(3);
/// Time limit of a download, for slow lines and small rates of the owner.
const DOWNLOAD: Duration = Duration::from_hours(2);
/// Time for which a program on trial works after the first answer of the coordinator.
const WORK: Duration = Duration::from_mins(1);
/// Longest time that it has for that answer.
const SILENCE: Duration = Duration::from_hours(1);
/// Period in which it is looked for.
const TICK: Duration = Duration::from_secs(1);

/// Task that updates the agent.
pub(super) struct UpdateTask {
    pub(super) rules: UpdateRules,
    pub(super) dir: PathBuf,
    pub(super) agent: AgentId,
    pub(super) is_launched: bool,
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) gate: Arc<Gate>,
    pub(super) limits: Limits,
    pub(super) budget: BudgetRules,
    pub(super) readiness: ReadinessSignal,
    pub(super) status: Arc<Mutex<Option<UpdateStatus>>>,
    /// Ends the agent, which starts again.
    pub(super) restart: CancellationToken,
}

impl UpdateTask {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let programs = self.programs().await;
        if self.is_launched && programs.is_on_trial() {
            let version = programs.running_version(true);
            self.tell("trial", format!("version {version} is on trial"));
            if !prove(&self.readiness).await {
                tracing::error!(%version, "the coordinator has not answered the version on trial");
                return self.restart().await;
            }
            self.confirm(programs);
        } else if let Some(version) = programs.rejected().last() {
            self.tell("rejected", format!("version {version} failed here and is not tried again"));
        }
        loop {
            self.until_permitted().await;
            let wait = match self.attempt().await {
                Ok(version) => {
                    tracing::info!(%version, "the agent starts anew with the version");
                    self.tell("trial", format!("version {version} starts"));
                    return self.restart().await;
                }
                Err(error) => self.note(&error),
            };
            tokio::time::sleep(wait.mul_f64(1.0 + rand::random::<f64>())).await;
        }
    }

    /// What is known of programs, as soon as it can be read.
    async fn programs(&self) -> Programs {
        loop {
            match Programs::load(&self.dir) {
                Ok(programs) => return programs,
                Err(error) => {
                    let wait = self.note(&error.into());
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    async fn restart(&self) -> Result<(), AgentError> {
        self.restart.cancel();
        // Everything ends now, this task among the first.
        std::future::pending().await
    }

    /// A confirmation that cannot be stored is made by a later start.
    fn confirm(&self, mut programs: Programs) {
        let version = programs.running_version(true);
        match programs.confirm() {
            Ok(()) => {
                tracing::info!(%version, "the version works here and stays");
                self.tell("confirmed", format!("version {version} works here and stays"));
            }
            Err(error) => {
                let error = error_line::of(&error);
                tracing::warn!(%version, error, "that the version works here cannot be stored");
            }
        }
    }

    /// Waits while the owner's rules, the disk or the clock permit nothing.
    async fn until_permitted(&self) {
        let mut readiness = self.readiness.subscribe();
        // An error means that the agent is stopping.
        drop(readiness.wait_for(Readiness::takes_probes).await);
    }

    /// Returns the time until the next attempt, least.
    fn note(&self, error: &UpdateError) -> Duration {
        let outcome = error.as_str();
        let text = error_line::of(error);
        if error.is_failure() {
            tracing::warn!(outcome, error = text, "no update");
        } else {
            tracing::info!(outcome, reason = text, "no update");
        }
        self.tell(outcome, text);
        error.retry_after().unwrap_or(PERIOD)
    }

    fn tell(&self, outcome: &str, text: String) {
        let at = clock::timestamp(clock::now());
        let status = UpdateStatus { at, outcome: outcome.to_owned(), text };
        *lock(&self.status) = Some(status);
    }

    /// Puts a newer version to use, on trial; an error where there is none for this agent now.
    async fn attempt(&self) -> Result<Version, UpdateError> {
        let file = self.release().await?;
        let release = Release::verify(&file, &self.rules.key)?;
        if !Programs::are_own(&self.dir) {
            return Err(UpdateError::OtherUser);
        }
        let mut programs = Programs::load(&self.dir)?;
        release.check_time(clock::now(), programs.newest(&self.rules.key))?;
        programs.note_newest(self.rules.key, release.signed_at)?;
        let applicant = Applicant {
            agent: self.agent,
            version: &programs.running_version(self.is_launched),
            target: TARGET,
            rejected: programs.rejected(),
        };
        let program = release.program_for(&applicant)?;
        if !self.rules.installs {
            return Err(UpdateError::Offered(release.version));
        }
        let path = programs.path(&release.version);
        if !is_there(&path, program).await {
            self.check_room(&release.version, program)?;
            self.fetch(program, &programs, &path).await?;
        }
        examination::examine(&path, &release.version).await?;
        let text = String::from_utf8_lossy(&file).into_owned();
        programs.begin_trial(release.version.clone(), text)?;
        Ok(release.version)
    }

    async fn release(&self) -> Result<Vec<u8>, UpdateError> {
        let asking = self.readiness.while_awake(self.client.release());
        let file = asking.await.ok_or(UpdateError::CutOff)??;
        self.gate.count(file.len() as u64);
        Ok(file)
    }

    fn check_room(&self, version: &Version, program: &Program) -> Result<(), UpdateError> {
        let failed = || FileError::at(&self.dir, "examined");
        if disk::is_noexec(&self.dir).map_err(failed())? {
            return Err(UpdateError::NoExec);
        }
        // Limits as if the program were stored already.
        let with_it = Limits {
            disk_floor_bytes: self.limits.disk_floor_bytes.saturating_add(program.bytes),
            disk_bytes: self.limits.disk_bytes.saturating_sub(program.bytes),
            ..self.limits.clone()
        };
        if let Some(shortage) = disk::shortage(&self.dir, &with_it).map_err(failed())? {
            return Err(UpdateError::Disk { version: version.clone(), shortage });
        }
        if !has_room(&self.budget, &self.gate.usage(), program.bytes) {
            let mib = program.bytes.div_ceil(1 << 20);
            return Err(UpdateError::Budget { version: version.clone(), mib });
        }
        Ok(())
    }

    /// Downloads the program while the owner's rules permit it.
    async fn fetch(
        &self,
        program: &Program,
        programs: &Programs,
        path: &Path,
    ) -> Result<(), UpdateError> {
        programs.remove_unused();
        file::private_dir(programs.dir())?;
        let temporary = programs.download_path();
        let downloading = async {
            let response = self.client.download(&program.name, DOWNLOAD).await?;
            download::download(response, program, &temporary, &self.gate).await
        };
        let done = self.readiness.unless(|readiness| !readiness.takes_probes(), downloading).await;
        let done = done.unwrap_or(Err(UpdateError::CutOff));
        if done.is_err() {
            drop(std::fs::remove_file(&temporary));
        }
        done?;
        file::rename(&temporary, path).map_err(FileError::at(path, "written"))?;
        Ok(())
    }
}

/// Whether the program is there already, such as after it could not be examined.
async fn is_there(path: &Path, program: &Program) -> bool {
    let path = path.to_owned();
    let program = program.clone();
    let verifying = tokio::task::spawn_blocking(move || download::verify(&path, &program));
    matches!(verifying.await, Ok(Ok(())))
}

/// Whether this many bytes fit into the rest of the owner's budgets.
fn has_room(rules: &BudgetRules, usage: &Usage, bytes: u64) -> bool {
    let fits = |used: u64, limit: Option<u64>| {
        limit.is_none_or(|limit| used.saturating_add(bytes) <= limit)
    };
    fits(usage.bytes, rules.bytes_per_day) && fits(usage.month_bytes, rules.bytes_per_month)
}

/// Waits for an answer of the coordinator and some work after that. False if the coordinator does
/// not answer for long, in the owner's hours.
async fn prove(readiness: &ReadinessSignal) -> bool {
    let mut silent_until = Instant::now() + SILENCE;
    let mut tick = tokio::time::interval(TICK);
    while readiness.answered_at().is_none() {
        tick.tick().await;
        if readiness.current().asleep.is_some() {
            silent_until += TICK;
        }
        if Instant::now() >= silent_until {
            return false;
        }
    }
    tokio::time::sleep(WORK).await;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::readiness::Sleep;

    #[tokio::test(start_paused = true)]
    async fn a_program_proves_itself_by_an_answer_and_a_minute_of_work() {
        let signal = ReadinessSignal::new(Readiness::default());
        let begun = Instant::now();
        let answering = async {
            tokio::time::sleep(Duration::from_mins(59)).await;
            signal.note_answer(clock::now());
        };
        let (proved, ()) = tokio::join!(prove(&signal), answering);
        assert!(proved && begun.elapsed() >= Duration::from_mins(60), "{:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_mins(61), "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_without_an_answer_fails_after_an_hour_awake() {
        let signal = ReadinessSignal::new(Readiness::default());
        signal.change(|readiness| readiness.asleep = Some(Sleep { until: None }));
        let begun = Instant::now();
        let waking = async {
            tokio::time::sleep(Duration::from_hours(8)).await;
            signal.change(|readiness| readiness.asleep = None);
        };
        let (proved, ()) = tokio::join!(prove(&signal), waking);
        assert!(!proved);
        let hours = begun.elapsed().as_secs_f64() / 3_600.0;
        assert!((8.9..9.1).contains(&hours), "{hours} h");
    }

    #[test]
    fn a_program_must_fit_into_the_budgets() {
        let gate = Gate::of("[budget]\nmib_per_day = 20\nmib_per_month = 30");
        let day = Some(20 << 20);
        let rules =
            BudgetRules { pages_per_day: 1, bytes_per_day: day, bytes_per_month: Some(30 << 20) };
        assert!(has_room(&rules, &gate.usage(), 20 << 20));
        gate.count(1);
        assert!(!has_room(&rules, &gate.usage(), 20 << 20));
        let without = BudgetRules { bytes_per_day: None, bytes_per_month: None, ..rules };
        assert!(has_room(&without, &gate.usage(), u64::MAX));
    }
}
