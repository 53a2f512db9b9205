//! Any bytes as a file: unpacked (gzip, zip), read, settled, queried, and remapped to itself.

#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;

use hierarchy::SplitLeaves;
use hierarchy::remap::{Claim, Plan, RangeChange, SearchClaim};
use libfuzzer_sys::fuzz_target;
use rir_loader::inspect::chain;
use rir_loader::read::{Options, read};
use rir_loader::settle::SplitPolicy;
use rir_loader::stats::Stats;

thread_local! {
    /// A file of its own for each process.
    static FILE: RefCell<PathBuf> = RefCell::new(
        std::env::temp_dir().join(format!("fuzz-whole-{}", std::process::id()))
    );
}

fuzz_target!(|bytes: &[u8]| {
    let path = FILE.with_borrow(PathBuf::clone);
    std::fs::write(&path, bytes).unwrap();
    let leaves = Some(SplitLeaves { above: 8, into: 10 });
    let split = SplitPolicy { v4: leaves, v6: leaves };
    let options = Options { force: true, split, origins: true, may_be_empty: true };
    let Ok(data) = read(&[path], options, &|_| {}) else { return };
    let hierarchy = &data.hierarchy;
    for subnet in hierarchy.iter().take(500) {
        let chain = chain(hierarchy, &subnet.range(), &|range| data.file_of(range));
        assert_eq!(chain.last().map(|link| link.first), Some(subnet.range().first()));
        assert!(
            chain
                .windows(2)
                .all(|pair| pair[0].first <= pair[1].first && pair[0].last >= pair[1].last)
        );
    }
    let stats = Stats::of(&data);
    assert_eq!(stats.rejected, data.rejected());
    let claims = hierarchy.iter().map(|subnet| Claim {
        key: subnet.id(),
        range: subnet.range(),
        rank: 0,
        provisional: false,
    });
    let no_searches = std::iter::empty::<SearchClaim<u64>>();
    let no_constraints = std::iter::empty::<Vec<Claim<u64>>>();
    let plan = Plan::of(Some(hierarchy), hierarchy, claims, no_searches, no_constraints);
    assert!(plan.is_unchanged());
    assert!(plan.delegations.iter().all(|one| one.change == RangeChange::Same));
});
