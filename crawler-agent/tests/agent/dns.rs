//! A name server for a few names (RFC 1035, no more of it than needed).

use std::{
    collections::{BTreeSet, HashMap},
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{net::UdpSocket, task::AbortHandle};

/// How the names begin that are not answered until [`Dns::answer_all`].
const HELD: &str = "held";

pub(crate) struct Dns {
    pub(crate) port: u16,
    answers_all: Arc<AtomicBool>,
    asked: Arc<Mutex<BTreeSet<String>>>,
    serving: AbortHandle,
}

impl Dns {
    pub(crate) async fn start(names: HashMap<String, Vec<Ipv4Addr>>) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let answers_all = Arc::new(AtomicBool::new(false));
        let asked = Arc::new(Mutex::new(BTreeSet::new()));
        let is_open = Arc::clone(&answers_all);
        let names_asked = Arc::clone(&asked);
        let serving = tokio::spawn(async move {
            let mut buffer = [0; 1_500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let Some((name, _)) = read_name(&buffer[..length]) else { continue };
                let is_held = name.starts_with(HELD) && !is_open.load(Ordering::Relaxed);
                names_asked.lock().unwrap().insert(name);
                if is_held {
                    continue;
                }
                if let Some(answer) = answer(&buffer[..length], &names) {
                    socket.send_to(&answer, from).await.ok();
                }
            }
        });
        Self { port, answers_all, asked, serving: serving.abort_handle() }
    }

    /// Answers queries for held names, too, from now on.
    pub(crate) fn answer_all(&self) {
        self.answers_all.store(true, Ordering::Relaxed);
    }

    /// The names that were asked for.
    pub(crate) fn asked(&self) -> BTreeSet<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn answer(query: &[u8], names: &HashMap<String, Vec<Ipv4Addr>>) -> Option<Vec<u8>> {
    let (name, after_name) = read_name(query)?;
    let question = query.get(12..after_name + 4)?;
    let is_a = query.get(after_name..after_name + 2)? == [0, 1];
    let known = names.get(&name);
    let addresses = known.filter(|_| is_a).cloned().unwrap_or_default();
    let no_such_name = u8::from(known.is_none()) * 3;
    let mut out = vec![
        query[0],
        query[1],
        0x85,
        0x80 | no_such_name,
        0,
        1,
        0,
        addresses.len() as u8,
        0,
        0,
        0,
        0,
    ];
    out.extend_from_slice(question);
    for address in addresses {
        // The name by reference, type A, class IN, one minute, four bytes.
        out.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        out.extend_from_slice(&address.octets());
    }
    Some(out)
}

fn read_name(query: &[u8]) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
}
