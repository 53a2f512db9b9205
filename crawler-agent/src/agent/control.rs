//! Control socket: answers questions of the owner's commands about the running agent.
//!
//! It is a Unix socket in the data directory, which only the owner can enter. A client writes the
//! host as one line and reads one JSON document, a
//! [`protocol::host_status::HostStatus`].

use std::{path::PathBuf, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
};
use tokio_util::sync::CancellationToken;

use super::{AgentError, inspector::Inspector};
use crate::data_dir::control_socket;

/// Longest question, in bytes: more than the longest host.
const QUESTION_BYTES: u64 = 4_096;
/// Longest time for a question and its answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Task that answers questions about hosts.
pub(super) struct ControlTask {
    pub(super) inspector: Inspector,
}

impl ControlTask {
    /// Answers until `stop`. Where the socket cannot be made, for example because its path is too
    /// long, the agent works without it.
    pub(super) async fn run(self, dir: PathBuf, stop: CancellationToken) -> Result<(), AgentError> {
        let path = control_socket::path(&dir);
        let listener = match control_socket::listen(&path) {
            Ok(listener) => listener,
            Err(error) => {
                let path = path.display();
                tracing::warn!(%path, %error, "commands cannot ask this agent about hosts");
                return Ok(());
            }
        };
        while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
            let Ok((stream, _)) = accepted else { continue };
            // Clients are served one after the other, because people ask seldom. A client that is
            // too slow, or closes the connection, gets no answer.
            if let Ok(Err(error)) = tokio::time::timeout(ANSWER, self.answer(stream)).await {
                tracing::debug!(%error, "a question was not answered");
            }
        }
        control_socket::remove(&path);
        Ok(())
    }

    async fn answer(&self, stream: UnixStream) -> std::io::Result<()> {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        (&mut stream).take(QUESTION_BYTES).read_line(&mut line).await?;
        let status = self.inspector.host(line.trim()).await.map_err(std::io::Error::other)?;
        let document = serde_json::to_vec(&status).map_err(std::io::Error::other)?;
        stream.write_all(&document).await?;
        stream.shutdown().await
    }
}
