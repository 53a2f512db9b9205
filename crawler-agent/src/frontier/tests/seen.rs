//! Fingerprints of URLs against a set.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use crate::frontier::state::seen::{SeenUrl, SeenUrls};

#[derive(Debug, Clone)]
enum Step {
    Insert(SeenUrl),
    Checkpoint,
    DropRuns,
    Reload,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0u64..300).prop_map(Step::Insert),
        3 => Just(Step::Checkpoint),
        1 => Just(Step::DropRuns),
        1 => Just(Step::Reload),
    ]
}

proptest! {
    #[test]
    fn each_url_is_new_once(steps in prop::collection::vec(step(), 0..300)) {
        let mut model = HashSet::new();
        let mut disk = BTreeMap::<u32, Vec<SeenUrl>>::new();
        let mut seen = SeenUrls::default();
        let mut runs = Vec::new();
        for step in steps {
            match step {
                Step::Insert(url) => {
                    let read = |run: u32| Ok(disk[&run].clone());
                    let is_new = !seen.contains(url, read).unwrap();
                    prop_assert_eq!(is_new, model.insert(url));
                    if is_new {
                        seen.add(url);
                    }
                }
                Step::Checkpoint => {
                    if let Some(changes) = seen.changes(|run| Ok(disk[&run].clone())).unwrap() {
                        changes.deleted.iter().for_each(|run| drop(disk.remove(run)));
                        disk.insert(changes.written.0, changes.written.1);
                    }
                    runs = seen.runs();
                    let stored: usize = disk.values().map(Vec::len).sum();
                    prop_assert_eq!(stored, model.len(), "each fingerprint once");
                    prop_assert!(runs.len() <= 10, "few runs: {:?}", runs);
                }
                Step::DropRuns => seen.drop_runs(),
                Step::Reload => {
                    // What was added since the checkpoint is lost with the memory.
                    seen = SeenUrls::on_disk(&runs);
                    model = disk.values().flatten().copied().collect();
                }
            }
        }
    }
}
