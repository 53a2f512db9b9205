//! The router: one thread that reads packets from every device, holds each for the delay of its
//! path, and writes it to the device of its destination.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::EventFd;
use nix::sys::time::TimeSpec;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::conditions::{Conditions, Scope, Slowdown};
use super::packet::PacketEnds;
use super::paths::{Path, Paths, Site};
use super::queue::Queue;
use super::traffic::Counters;
use super::tun::Tun;

/// Packets read from one device before the others have their turn.
const TURN: usize = 64;
/// The largest IP packet.
const PACKET: usize = 65_536;

/// Where an address is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Home {
    /// Index of the device of its namespace.
    pub(super) device: usize,
    /// Its place in the matrix.
    pub(super) site: Site,
}

/// Orders to the running router.
#[derive(Debug)]
pub(super) enum Order {
    Cut(Scope),
    Slow(Scope, Slowdown),
    Heal(Scope),
    HealAll,
    Stop,
}

/// An order, and the channel that confirms it.
pub(super) type Command = (Order, SyncSender<()>);

/// Everything that the router thread owns.
pub(super) struct Router {
    pub(super) devices: Vec<Tun>,
    pub(super) homes: HashMap<IpAddr, Home>,
    pub(super) paths: Paths,
    pub(super) orders: Receiver<Command>,
    pub(super) wakeup: Arc<EventFd>,
    pub(super) counters: Arc<Counters>,
    pub(super) seed: u64,
}

impl Router {
    /// Routes until told to stop, or until a device or the kernel fails.
    pub(super) fn run(self) -> io::Result<()> {
        let mut state = State {
            conditions: Conditions::default(),
            queue: Queue::default(),
            chance: ChaCha8Rng::seed_from_u64(self.seed),
        };
        let mut buffer = vec![0; PACKET];
        loop {
            let ready = self.wait(state.queue.next_due())?;
            if ready.wakeup && self.obey(&mut state.conditions) {
                return Ok(());
            }
            for device in ready.devices {
                self.take(device, &mut buffer, &mut state)?;
            }
            self.deliver(&mut state.queue);
        }
    }

    /// Waits for a packet, the wakeup, or the time that the next packet is due.
    fn wait(&self, due: Option<Instant>) -> io::Result<Ready> {
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds: Vec<_> = self.devices.iter().map(|tun| readable(tun.as_fd())).collect();
        fds.push(readable(self.wakeup.as_fd()));
        let wait = due.map(|due| TimeSpec::from(due.saturating_duration_since(Instant::now())));
        match ppoll(&mut fds, wait, None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(other) => return Err(other.into()),
        }
        let wakeup = fds.pop().is_some_and(|fd| fd.any() == Some(true));
        let ready = fds.iter().enumerate().filter(|(_, fd)| fd.any() == Some(true));
        Ok(Ready { wakeup, devices: ready.map(|(device, _)| device).collect() })
    }

    /// Carries out what was ordered; true when it is to stop.
    fn obey(&self, conditions: &mut Conditions) -> bool {
        // The wakeup may have been silenced already; what counts are the orders.
        let _ = self.wakeup.read();
        let mut stop = false;
        for (order, done) in self.orders.try_iter() {
            match order {
                Order::Cut(scope) => conditions.cut(scope),
                Order::Slow(scope, slowdown) => conditions.slow(scope, slowdown),
                Order::Heal(scope) => conditions.heal(scope),
                Order::HealAll => conditions.heal_all(),
                Order::Stop => stop = true,
            }
            // Whoever asked may have stopped waiting.
            let _ = done.send(());
        }
        stop
    }

    /// Reads what a device has and queues what can travel.
    fn take(&self, device: usize, buffer: &mut [u8], state: &mut State) -> io::Result<()> {
        for _ in 0..TURN {
            let Some(length) = self.devices[device].receive(buffer)? else { break };
            let now = Instant::now();
            match self.judge(device, &buffer[..length], state) {
                Ok((ends, to, delay)) => {
                    state.queue.push(ends, now + delay, now, to, buffer[..length].to_vec());
                }
                Err(counter) => drop(counter.fetch_add(1, Relaxed)),
            }
        }
        Ok(())
    }

    /// Where a packet goes and how long that takes, or the counter of why it does not.
    fn judge(
        &self,
        from: usize,
        packet: &[u8],
        state: &mut State,
    ) -> Result<(PacketEnds, usize, Duration), &AtomicU64> {
        let ends = PacketEnds::of(packet).ok_or(&self.counters.malformed)?;
        if ends.stays_on_link() {
            return Err(&self.counters.link_local);
        }
        let sender = self.homes.get(&ends.source).filter(|home| home.device == from);
        let receiver = self.homes.get(&ends.destination);
        let (Some(sender), Some(receiver)) = (sender, receiver) else {
            return Err(&self.counters.unknown);
        };
        let path = self.paths.between(sender.site, receiver.site).ok_or(&self.counters.unknown)?;
        let delay = state.conditions.apply(ends, sender.site, receiver.site, path.delay);
        let delay = delay.ok_or(&self.counters.cut)?;
        let jitter = state.draw(path).ok_or(&self.counters.lost)?;
        Ok((ends, receiver.device, delay + jitter))
    }

    fn deliver(&self, queue: &mut Queue) {
        let mut now = Instant::now();
        while let Some(departure) = queue.pop_due(now) {
            let counters = &self.counters;
            match self.devices[departure.device].send(&departure.packet) {
                Ok(()) => counters.delivered(departure.packet.len(), now - departure.due()),
                Err(_) => drop(counters.refused.fetch_add(1, Relaxed)),
            }
            now = Instant::now();
        }
    }
}

/// What there is to do after a wait.
struct Ready {
    wakeup: bool,
    devices: Vec<usize>,
}

/// What changes while the router runs.
struct State {
    conditions: Conditions,
    queue: Queue,
    chance: ChaCha8Rng,
}

impl State {
    /// Draws what a packet's delay gets on top; none when the packet is lost.
    fn draw(&mut self, path: Path) -> Option<Duration> {
        if path.loss > 0.0 && self.chance.random_bool(path.loss.min(1.0)) {
            return None;
        }
        if path.jitter.is_zero() {
            return Some(Duration::ZERO);
        }
        Some(path.jitter.mul_f64(self.chance.random::<f64>()))
    }
}
