//! `nearcrawl-agent`: the program that a partner organisation runs.

use std::process::ExitCode;

use clap::Parser as _;
use tikv_jemallocator::Jemalloc;

/// Pages, links and buffers are made by one thread and freed by another. The allocator of glibc
/// takes a fifth more processor time for that, and a quarter more memory.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Settings of the allocator, which it reads at this symbol: as many arenas as there are threads
/// for visits, caches of threads for pieces as large as buffers of connections, and memory that was
/// free for a fifth of a second goes back to the system.
#[expect(unsafe_code, reason = "the allocator looks for a symbol with this name")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_SETTINGS: &[u8; 63] =
    b"narenas:2,dirty_decay_ms:200,muzzy_decay_ms:0,lg_tcache_max:16\0";

fn main() -> ExitCode {
    crawler_agent::cli::main(crawler_agent::cli::Cli::parse())
}
