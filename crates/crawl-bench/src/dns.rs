//! Name server for a web on one address: every name leads there (RFC 1035, no more than needed).

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context as _;
use tokio::net::UdpSocket;
use tokio::task::AbortHandle;

/// A running name server; dropping it stops it.
#[derive(Debug)]
pub struct Dns {
    address: SocketAddr,
    serving: AbortHandle,
}

impl Dns {
    /// Starts one that answers with `target` for every name.
    pub async fn start(target: Ipv4Addr) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let socket = socket.context("cannot listen for names")?;
        let address = socket.local_addr().context("cannot listen for names")?;
        let serving = tokio::spawn(async move {
            let mut buffer = [0; 1_500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                if let Some(answer) = answer(&buffer[..length], target) {
                    // A resolver that has gone asks again.
                    let _ = socket.send_to(&answer, from).await;
                }
            }
        });
        Ok(Self { address, serving: serving.abort_handle() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The answer to a query; to a query for anything but IPv4 addresses, one without records.
fn answer(query: &[u8], target: Ipv4Addr) -> Option<Vec<u8>> {
    let mut end = 12;
    loop {
        let length = usize::from(*query.get(end)?);
        end += 1 + length;
        if length == 0 {
            break;
        }
    }
    let question = query.get(12..end + 4)?;
    let is_a = query.get(end..end + 2)? == [0, 1];
    let id = query.get(..2)?;
    let mut out = id.to_vec();
    // An authoritative answer without error, with one question.
    out.extend_from_slice(&[0x85, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    out.extend_from_slice(question);
    if is_a {
        // The name by reference, type A, class IN, one minute, four bytes.
        out.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        out.extend_from_slice(&target.octets());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_the_address() {
        let question = b"\x02h7\x04test\x00\x00\x01\x00\x01";
        let query = [&[1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0], &question[..]].concat();
        let answered = answer(&query, Ipv4Addr::new(127, 16, 0, 1)).unwrap();
        assert_eq!(answered[..2], [1, 2]);
        assert_eq!(answered[6..8], [0, 1], "one record");
        assert_eq!(answered[answered.len() - 4..], [127, 16, 0, 1]);
        let mut ipv6 = query.clone();
        let place = ipv6.len() - 3;
        ipv6[place] = 28;
        assert_eq!(answer(&ipv6, Ipv4Addr::LOCALHOST).unwrap()[6..8], [0, 0]);
        assert_eq!(answer(&query[..14], Ipv4Addr::LOCALHOST), None);
    }
}
