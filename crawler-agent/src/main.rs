//! `nearcrawl-agent`: the program that a partner organisation runs.

use std::process::ExitCode;

use clap::Parser as _;
use tikv_jemallocator::Jemalloc;

/// Pages, links and buffers are made by one thread and freed by another. The allocator of glibc
/// takes a fifth more processor time for that, and a quarter more memory.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Settings of the allocator, which it reads at this symbol.
#[expect(unsafe_code, reason = "the allocator looks for a symbol with this name")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_SETTINGS: &[u8; 63] = crawler_agent::allocator::SETTINGS;

fn main() -> ExitCode {
    crawler_agent::cli::main(crawler_agent::cli::Cli::parse())
}
