//! Other programs: started in a directory of their own, measured through `/proc`, ended with us.

mod program;
pub mod syscalls;
pub mod usage;

pub use program::{ExitState, Program};
