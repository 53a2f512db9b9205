//! Blocks of packages, which may come from a dishonest agent: no bytes make the reader panic, and
//! what is read is read again after it was written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{AgentId, UnixMillis};
use protocol::key::{AgentKey, Purpose};
use protocol::package::{Header, PackageName, build, open};
use protocol::page::Entry;
use sha2::{Digest as _, Sha256};

const NAME: PackageName = PackageName { agent: AgentId::new(1), epoch: 1, seq: 1 };
/// Entries that a package of the fuzzer may have at most. Its header promises each number in turn.
const MOST_ENTRIES: u32 = 4;

fuzz_target!(|bytes: &[u8]| {
    let key = AgentKey::from_seed([1; 32]);
    for promised in 0..=MOST_ENTRIES {
        let package = forge(bytes, promised, &key);
        let opened = open(&package, &key.public()).expect("the header is right");
        let read: Result<Vec<Entry>, _> = opened.entries().expect("the body can be read").collect();
        let Ok(entries) = read else { continue };
        let again = build(&entries, NAME, UnixMillis(0), &key).expect("what was read is written");
        let again = open(&again.bytes, &key.public()).expect("what was written is opened");
        let again: Result<Vec<Entry>, _> = again.entries().expect("the body can be read").collect();
        // In another order: a package is written host by host.
        assert_eq!(sorted(&entries), sorted(&again.expect("what was written is read")));
    }
});

fn sorted(entries: &[Entry]) -> Vec<String> {
    let mut texts: Vec<String> = entries.iter().map(|entry| format!("{entry:?}")).collect();
    texts.sort_unstable();
    texts
}

/// A package with `block` as its only block, signed by a dishonest agent.
fn forge(block: &[u8], entries: u32, key: &AgentKey) -> Vec<u8> {
    let plain = [&(block.len() as u32).to_be_bytes(), block].concat();
    let body = zstd::bulk::compress(&plain, 1).expect("memory takes everything");
    let header = Header {
        name: NAME,
        created: UnixMillis(0),
        entries,
        plain_bytes: plain.len() as u64,
        body_sha256: data_encoding::HEXLOWER.encode(&Sha256::digest(&body)),
    };
    let json = serde_json::to_vec(&header).expect("a header can be written");
    let length = (json.len() as u32).to_be_bytes();
    let signature = key.sign(Purpose::Package, &json).to_bytes();
    [b"NCPK\x06".as_slice(), &length, &json, &signature, &body].concat()
}
