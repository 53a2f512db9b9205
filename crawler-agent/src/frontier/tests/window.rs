//! The window against a map, with a disk that lags behind.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::frontier::state::window::{QueueKey, Value, Window};

#[derive(Debug, Clone)]
enum Step {
    Insert(u16, u64),
    RemoveFirst,
    RemoveAny(usize),
    UpdateAll,
    /// A checkpoint is collected; its rows are on disk only with the next step of this kind.
    Checkpoint,
    Commit,
    /// The host is dropped from memory and read again, if all is on disk.
    Reload,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => (0u16..3, 0u64..400).prop_map(|(depth, order)| Step::Insert(depth, order)),
        25 => Just(Step::RemoveFirst),
        3 => (0usize..500).prop_map(Step::RemoveAny),
        1 => Just(Step::UpdateAll),
        6 => Just(Step::Checkpoint),
        6 => Just(Step::Commit),
        2 => Just(Step::Reload),
    ]
}

impl Value for u64 {
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

type Rows = BTreeMap<QueueKey, u64>;

fn read(disk: &Rows, from: QueueKey, most: usize) -> Vec<(QueueKey, u64)> {
    disk.range(from..).take(most).map(|(key, value)| (*key, *value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_window_is_a_map(steps in prop::collection::vec(step(), 0..400)) {
        let mut model = Rows::new();
        let mut disk = Rows::new();
        let mut pending: Option<Rows> = None;
        let mut window: Window<QueueKey, u64> = Window::on_disk(0);
        let mut is_clean = true;
        let mut value = 0;
        for step in steps {
            value += 1;
            match step {
                Step::Insert(depth, order) => {
                    let key = (depth, order);
                    // As in a queue, a key is replaced only after it was removed.
                    if model.insert(key, value).is_some() {
                        window.remove(key, |from, most| Ok(read(&disk, from, most))).unwrap();
                    }
                    window.insert(key, value);
                    is_clean = false;
                }
                Step::RemoveFirst => {
                    let reader = |from, most| Ok(read(&disk, from, most));
                    let first = window.first(reader).unwrap().map(|(key, value)| (key, *value));
                    prop_assert_eq!(first, model.pop_first());
                    if let Some((key, _)) = first {
                        window.remove(key, reader).unwrap();
                        is_clean = false;
                    }
                }
                Step::RemoveAny(index) => {
                    let Some(key) = model.keys().nth(index).copied() else { continue };
                    let removed = window.remove(key, |from, most| Ok(read(&disk, from, most)));
                    prop_assert_eq!(removed.unwrap(), model.remove(&key));
                    is_clean = false;
                }
                Step::UpdateAll => {
                    for value in model.values_mut() {
                        *value += 1_000;
                    }
                    let reader = |from, most| Ok(read(&disk, from, most));
                    window.update_all(reader, |value| *value += 1_000).unwrap();
                    is_clean = false;
                }
                Step::Checkpoint if pending.is_none() => {
                    let changes =
                        window.changes(|value| Ok(value.to_le_bytes().to_vec())).unwrap();
                    let mut rows = disk.clone();
                    rows.retain(|key, _| !changes.deleted.contains(key));
                    for (key, bytes) in changes.written {
                        rows.insert(key, u64::from_le_bytes(bytes.try_into().unwrap()));
                    }
                    prop_assert_eq!(&rows, &model);
                    pending = Some(rows);
                    is_clean = true;
                }
                Step::Commit => {
                    if let Some(rows) = pending.take() {
                        disk = rows;
                        window.committed();
                    }
                }
                Step::Reload if pending.is_none() && is_clean => {
                    window = Window::on_disk(disk.len());
                }
                Step::Checkpoint | Step::Reload => {}
            }
            prop_assert_eq!(window.len(), model.len());
        }
        let reader = |from, most| Ok(read(&disk, from, most));
        while let Some((key, value)) = model.pop_first() {
            let first = window.first(reader).unwrap().map(|(key, value)| (key, *value));
            prop_assert_eq!(first, Some((key, value)));
            window.remove(key, reader).unwrap();
        }
        prop_assert!(window.first(reader).unwrap().is_none());
        prop_assert_eq!(window.bytes(), 0);
    }
}
