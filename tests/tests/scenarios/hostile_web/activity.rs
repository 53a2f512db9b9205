//! The agent's activity log, as it lies on the disk.

use std::path::Path;

use serde::Deserialize;

/// One line of the activity log.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Line {
    pub(crate) kind: String,
    pub(crate) target: String,
    pub(crate) outcome: String,
}

/// All lines so far. A line that is being written is left out.
pub(super) fn read(dir: &Path) -> Vec<Line> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        lines.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    lines
}
