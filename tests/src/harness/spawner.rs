//! Thread that starts every process.
//!
//! The kernel binds "end with the parent" to the *thread* that forked, and threads of a runtime
//! come and go. This thread lives as long as the test process.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{OnceLock, mpsc};
use std::thread;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

struct Birth {
    command: Command,
    reply: mpsc::Sender<io::Result<Child>>,
}

static NURSERY: OnceLock<mpsc::Sender<Birth>> = OnceLock::new();

/// Starts `command` as a process that the kernel kills when ours ends.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    end_with_us(&mut command);
    let (reply, born) = mpsc::channel();
    let closed = |_| io::Error::other("the thread that starts processes is gone");
    NURSERY
        .get_or_init(open)
        .send(Birth { command, reply })
        .map_err(|_| closed(mpsc::RecvError))?;
    born.recv().map_err(closed)?
}

fn open() -> mpsc::Sender<Birth> {
    let (sender, births) = mpsc::channel::<Birth>();
    let care = move || {
        while let Ok(Birth { mut command, reply }) = births.recv() {
            // Nobody waits for the answer any more: dropping the child leaves it to the kernel.
            let _ = reply.send(command.spawn());
        }
    };
    // Without the thread every send fails, and `spawn` says so.
    drop(thread::Builder::new().name("spawner".to_owned()).spawn(care));
    sender
}

#[expect(unsafe_code, reason = "pre_exec: the closure makes one system call and does not allocate")]
fn end_with_us(command: &mut Command) {
    // SAFETY: prctl is async-signal-safe.
    unsafe {
        command.pre_exec(|| set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from));
    }
}
