//! A network namespace: its creation, and how programs and sockets enter it.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::getegid;

use super::NetError;

/// A network namespace without a name in the file system: it lives as long as this handle, its
/// clones, and the programs and sockets inside.
#[derive(Debug, Clone)]
pub struct Namespace {
    name: Arc<str>,
    handle: Arc<OwnedFd>,
}

impl Namespace {
    /// Makes an empty namespace and runs `furnish` inside before anything else can be there.
    pub(super) fn create<T: Send>(
        name: &str,
        furnish: impl FnOnce() -> Result<T, NetError> + Send,
    ) -> Result<(Self, T), NetError> {
        thread::scope(|scope| {
            let maker = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET).map_err(NetError::NoNamespaces)?;
                let handle = File::open("/proc/thread-self/ns/net")
                    .map_err(|source| NetError::Enter { namespace: name.to_owned(), source })?;
                relax(name)?;
                let namespace = Self { name: name.into(), handle: Arc::new(handle.into()) };
                Ok((namespace, furnish()?))
            });
            maker.join().unwrap_or_else(|_| Err(NetError::Panicked { namespace: name.to_owned() }))
        })
    }

    /// The node's name in the plan.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the program of `command` start inside. Entering needs privilege, so do not also change
    /// the command's user: the standard library would drop the privilege first.
    pub fn enter_command<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let handle = Arc::clone(&self.handle);
        let enter = move || setns(&*handle, CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
        #[expect(
            unsafe_code,
            reason = "pre_exec: the closure makes one system call and does not allocate"
        )]
        unsafe {
            command.pre_exec(enter)
        }
    }

    /// Runs `work` in a thread inside and hands back its result. Sockets opened there stay inside,
    /// whoever uses them later.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NetError> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&*self.handle, CloneFlags::CLONE_NEWNET).map_err(|e| NetError::Enter {
                    namespace: self.name().to_owned(),
                    source: e.into(),
                })?;
                Ok(work())
            });
            inside
                .join()
                .unwrap_or_else(|_| Err(NetError::Panicked { namespace: self.name().to_owned() }))
        })
    }
}

/// Settings that every namespace needs: programs without privilege may ping (ICMP datagram sockets)
/// and listen on port 80, and IPv6 does not talk to itself about routers and link-local addresses.
fn relax(namespace: &str) -> Result<(), NetError> {
    allow_ping(namespace)?;
    set(namespace, "/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")?;
    for (path, value) in QUIET_IPV6 {
        // A kernel without IPv6 has no such file, and then no such noise.
        if fs::exists(path).unwrap_or(false) {
            set(namespace, path, value)?;
        }
    }
    Ok(())
}

const QUIET_IPV6: [(&str, &str); 3] = [
    ("/proc/sys/net/ipv6/conf/default/accept_ra", "0"),
    ("/proc/sys/net/ipv6/conf/default/router_solicitations", "0"),
    ("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1"),
];

/// The range is of group numbers that exist in this user namespace: all of them for root, only our
/// own for an ordinary user.
fn allow_ping(namespace: &str) -> Result<(), NetError> {
    const PATH: &str = "/proc/sys/net/ipv4/ping_group_range";
    let own = getegid();
    set(namespace, PATH, "0 2147483647").or_else(|_| set(namespace, PATH, &format!("{own} {own}")))
}

fn set(namespace: &str, path: &'static str, value: &str) -> Result<(), NetError> {
    fs::write(path, value).map_err(|source| NetError::Setting {
        namespace: namespace.to_owned(),
        path,
        value: value.to_owned(),
        source,
    })
}
