//! Test bed: the agent's binary with its configuration, and everything around it.

use std::{
    collections::HashMap,
    net::Ipv4Addr,
    path::PathBuf,
    process::{ExitStatus, Output, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::{Instant, sleep, timeout},
};

use crate::{
    coordinator::{Coordinator, TOKEN},
    dns::Dns,
    web::Web,
};

/// Longest wait of a test.
const MAX_WAIT: Duration = Duration::from_secs(60);

pub(crate) struct TestBed {
    pub(crate) coordinator: Coordinator,
    pub(crate) web: Web,
    pub(crate) dns: Dns,
    dir: TempDir,
    /// Lines of configuration, by table, that replace or extend the ordinary ones.
    pub(crate) more: HashMap<&'static str, Vec<String>>,
    agent: Option<Child>,
    /// Lines that the agent printed.
    said: Arc<Mutex<Vec<String>>>,
}

/// The nth address of the web; `aN.test`, `bN.test` and `heldN.test` lead there.
pub(crate) fn address(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, 0, n)
}

impl TestBed {
    /// A test bed whose web has `addresses` addresses.
    pub(crate) async fn new(addresses: u8) -> Self {
        let all: Vec<Ipv4Addr> = (1..=addresses).map(address).collect();
        let mut names = HashMap::new();
        for (n, address) in (1..).zip(&all) {
            names.insert(format!("a{n}.test"), vec![*address]);
            names.insert(format!("b{n}.test"), vec![*address]);
            names.insert(format!("held{n}.test"), vec![*address]);
        }
        // Nothing listens at the first address.
        names.insert("half.test".into(), vec![address(0), all[0]]);
        names.insert("inside.test".into(), vec![Ipv4Addr::new(10, 0, 0, 1)]);
        names.insert("mixed.test".into(), vec![all[0], Ipv4Addr::new(127, 66, 0, 1)]);
        names.insert("trap.test".into(), vec![Ipv4Addr::new(127, 66, 0, 1)]);
        Self {
            coordinator: Coordinator::start().await,
            web: Web::start(&all).await,
            dns: Dns::start(names).await,
            dir: TempDir::new().unwrap(),
            more: HashMap::new(),
            agent: None,
            said: Arc::default(),
        }
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The status file; empty before the agent has written one.
    pub(crate) fn status(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("status.json")).unwrap_or_default()
    }

    /// Sets a key in a table of the configuration; the top level has the name "".
    pub(crate) fn configure(&mut self, table: &'static str, line: &str) {
        self.more.entry(table).or_default().push(line.to_owned());
    }

    fn write_config(&self) -> PathBuf {
        let mut tables: Vec<(&str, Vec<String>)> = vec![
            (
                "",
                vec![
                    format!("coordinator = {:?}", self.coordinator.url()),
                    "contact = \"https://owner.example/bot\"".into(),
                    "name = \"bed\"".into(),
                    "data_dir = \"data\"".into(),
                    format!("resolver = [\"127.0.0.1:{}\"]", self.dns.port),
                ],
            ),
            (
                "guard",
                vec![
                    "allow = [\"127.1.0.0/16\"]".into(),
                    format!("ports = [80, {}]", self.web.port),
                ],
            ),
            (
                "limits",
                vec![
                    "host_delay_ms = 40".into(),
                    "disk_floor_mib = 0".into(),
                    "retry_ms = 100".into(),
                ],
            ),
            ("ship", vec!["age_ms = 100".into()]),
            ("budget", vec![]),
            ("probe", vec![]),
            ("metrics", vec![]),
            ("peer", vec![]),
            ("update", vec![]),
        ];
        for (name, lines) in &mut tables {
            for line in self.more.get(*name).into_iter().flatten() {
                let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
                lines.retain(|old| key(old) != key(line));
                lines.push(line.clone());
            }
        }
        let write = |(name, lines): &(&str, Vec<String>)| {
            let header = if name.is_empty() { String::new() } else { format!("[{name}]\n") };
            format!("{header}{}\n", lines.join("\n"))
        };
        let path = self.dir.path().join("agent.toml");
        // Replaced at once, because an agent that was just started may be reading it.
        let temporary = self.dir.path().join("agent.toml.tmp");
        std::fs::write(&temporary, tables.iter().map(write).collect::<String>()).unwrap();
        std::fs::rename(temporary, &path).unwrap();
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nearcrawl-agent"));
        command
            .args(arguments)
            .arg("--config")
            .arg(self.write_config())
            .env("NEARCRAWL_LOG", "info")
            .env_remove("NEARCRAWL_JOIN_TOKEN")
            .env_remove("NEARCRAWL_AGENT_DATA_DIR")
            .kill_on_drop(true);
        command
    }

    /// A file with this join token.
    pub(crate) fn token_file(&self, token: &str) -> String {
        let path = self.dir.path().join("join-token");
        std::fs::write(&path, token).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs the agent in the background.
    pub(crate) async fn start(&mut self) {
        let file = self.token_file(&TOKEN);
        self.start_with(&["run", "--join-token-file", &file]).await;
    }

    /// Runs the agent in the background; the reader of its log has gone away.
    pub(crate) async fn start_unread(&mut self) {
        let file = self.token_file(&TOKEN);
        self.spawn(&["run", "--join-token-file", &file], Stdio::piped()).await;
        drop(self.agent.as_mut().unwrap().stderr.take());
    }

    pub(crate) async fn start_with(&mut self, arguments: &[&str]) {
        self.spawn(arguments, Stdio::inherit()).await;
    }

    #[expect(clippy::unused_async, reason = "spawning needs the runtime it is called on")]
    async fn spawn(&mut self, arguments: &[&str], stderr: Stdio) {
        let mut child =
            self.command(arguments).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = Arc::clone(&self.said);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                said.lock().unwrap().push(line);
            }
        });
        self.agent = Some(child);
    }

    /// Enrolled, approved and running.
    pub(crate) async fn start_approved(&mut self) {
        self.coordinator.approve();
        self.start().await;
        self.until("the agent is approved", |bed| bed.said("approved")).await;
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Output {
        timeout(MAX_WAIT, self.command(arguments).output()).await.unwrap().unwrap()
    }

    /// The lines that the agent has printed so far.
    pub(crate) fn printed(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    pub(crate) fn said(&self, line: &str) -> bool {
        self.said.lock().unwrap().iter().any(|said| said == line)
    }

    pub(crate) fn pid(&self) -> i32 {
        self.agent.as_ref().unwrap().id().unwrap().cast_signed()
    }

    /// Kills the agent with SIGKILL.
    pub(crate) async fn kill(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().await.unwrap();
    }

    /// Stops the agent with SIGTERM; returns its status and how long it took.
    pub(crate) async fn stop(&mut self) -> (ExitStatus, Duration) {
        let mut agent = self.agent.take().unwrap();
        let started = Instant::now();
        let pid = nix::unistd::Pid::from_raw(agent.id().unwrap().cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        let status = timeout(MAX_WAIT, agent.wait()).await.expect("the agent must end").unwrap();
        (status, started.elapsed())
    }

    /// Waits until the agent ends by itself.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut agent = self.agent.take().unwrap();
        timeout(MAX_WAIT, agent.wait()).await.expect("the agent must end").unwrap()
    }

    /// Waits until `so` holds.
    pub(crate) async fn until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let started = Instant::now();
        while !so(self) {
            let heartbeat = self
                .coordinator
                .state()
                .heartbeats
                .last()
                .map(|heartbeat| heartbeat.status.clone());
            assert!(
                started.elapsed() < MAX_WAIT,
                "waited in vain until {what}; last status {heartbeat:?}"
            );
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until a result for each of these URLs has arrived.
    pub(crate) async fn until_reported(&self, urls: &[String]) {
        let missing = |bed: &Self| {
            let state = bed.coordinator.state();
            urls.iter().filter(|url| state.fetch(url).is_none()).count()
        };
        self.until("all results have arrived", |bed| missing(bed) == 0).await;
    }
}
