//! Benchmark of the agent: crawls of a web on loopback, judged by the web's server.
//!
//! - [`web`] makes the pages before the clock starts.
//! - [`referee`] serves them in a process of its own and records every request.
//! - [`coordinator`] hands out the seeds and verifies what the agent ships.
//! - [`process`] reads what a process used from `/proc`.
//! - [`case`] says what is crawled, [`peers`] by whom, [`rounds`] runs it, [`table`] prints it.

pub mod case;
pub mod coordinator;
pub mod dns;
pub mod machine;
pub mod measurement;
pub mod peers;
pub mod process;
pub mod referee;
pub mod rounds;
pub mod table;
pub mod web;
