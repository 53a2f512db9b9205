//! Settings of jemalloc, which the program and its benchmarks share.

/// As many arenas as there are threads for visits, caches of threads for pieces as large as buffers
/// of connections, and memory that was free for a fifth of a second goes back to the system.
pub const SETTINGS: &[u8; 63] = b"narenas:2,dirty_decay_ms:200,muzzy_decay_ms:0,lg_tcache_max:16\0";
