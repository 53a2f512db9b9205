//! The balance experiment: the rules of IPMicra III.F against the optimum, on an instance from a
//! file or a made-up one.

mod change;
mod contest;
mod file;
mod made;

pub use change::{Change, change};
pub use contest::{Contest, Entry, contest};
pub use file::{InstanceFileError, instance_file};
pub use made::{MadeSettings, made};
