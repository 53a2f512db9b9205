//! Whether this process may create network namespaces, and how it obtains that right.

use std::{fs, io, thread};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::NetError;

/// Where the right to make network namespaces comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privilege {
    /// The process had it (root, or CAP_SYS_ADMIN).
    Held,
    /// The process moved into a user namespace of its own.
    UserNamespace,
}

/// Makes sure that this process may create network namespaces. Call it first thing in `main`: an
/// ordinary user's process moves into a user namespace of its own, which the kernel allows only
/// while there is a single thread. User and group keep their numbers (the identity map), so that
/// programs which refuse to run as root, such as Postgres, still see an ordinary user.
pub fn take_privilege() -> Result<Privilege, NetError> {
    match try_namespace() {
        Ok(()) => return Ok(Privilege::Held),
        Err(Errno::EPERM) => {}
        Err(other) => return Err(NetError::NoNamespaces(other)),
    }
    enter_user_namespace()?;
    try_namespace().map_err(NetError::NoNamespaces)?;
    Ok(Privilege::UserNamespace)
}

/// Tries the real thing, in a thread that is thrown away with its namespace.
fn try_namespace() -> Result<(), Errno> {
    thread::spawn(|| unshare(CloneFlags::CLONE_NEWNET)).join().unwrap_or(Err(Errno::ECANCELED))
}

fn enter_user_namespace() -> Result<(), NetError> {
    let user = geteuid();
    let group = getegid();
    unshare(CloneFlags::CLONE_NEWUSER).map_err(NetError::NoNamespaces)?;
    // A process without privilege outside may map its group only after giving up setgroups
    // (user_namespaces(7)).
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", &format!("{group} {group} 1"))
}

fn write(path: &'static str, text: &str) -> Result<(), NetError> {
    fs::write(path, text).map_err(|source: io::Error| NetError::IdentityMap { path, source })
}
