//! `nearcrawl-internet`: reports whether this machine and this user can have a virtual internet.
//!
//! It builds a small one, proves that nothing leaves it, and measures a round trip in it. Exit code
//! 69 means that there can be none.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tests::net::{
    Internet, NetError, NodePlan, Path, Paths, PlacedAddress, Plan, Site, take_privilege,
};

/// `EX_UNAVAILABLE` of sysexits.
const UNAVAILABLE: u8 = 69;
const RTT_MS: f64 = 30.0;

fn main() -> ExitCode {
    let failed = |error: NetError| {
        let code =
            if error.is_unavailable() { ExitCode::from(UNAVAILABLE) } else { ExitCode::FAILURE };
        eprintln!("nearcrawl-internet: {:#}", anyhow::Error::new(error));
        code
    };
    match try_out() {
        Ok(rtt_ms) if (rtt_ms - RTT_MS).abs() < 3.5 => {
            println!("a handshake over {RTT_MS} ms took {rtt_ms:.2} ms");
            ExitCode::SUCCESS
        }
        Ok(rtt_ms) => {
            eprintln!(
                "nearcrawl-internet: a handshake over {RTT_MS} ms took {rtt_ms:.2} ms: this \
                 machine is too slow"
            );
            ExitCode::FAILURE
        }
        Err(error) => failed(error),
    }
}

fn try_out() -> Result<f64, NetError> {
    println!("privilege: {:?}", take_privilege()?);
    let place =
        |address: [u8; 4], site| PlacedAddress { address: address.into(), site: Site(site) };
    let node = |name: &str, placed| NodePlan { name: name.to_owned(), addresses: vec![placed] };
    let here = place([192, 0, 2, 1], 0);
    let there = place([198, 51, 100, 1], 1);
    let internet = Internet::open(Plan {
        nodes: vec![node("here", here), node("there", there)],
        paths: Paths::new(2, |_, _| Path::half_of_rtt_ms(RTT_MS)),
        seed: 1,
    })?;
    println!("{}", internet.prove_isolated()?);
    let to = SocketAddr::new(there.address, 80);
    let listener =
        internet.namespace("there")?.run(|| TcpListener::bind(to))?.map_err(NetError::Router)?;
    let handshake = || {
        let start = Instant::now();
        TcpStream::connect_timeout(&to, Duration::from_secs(5)).map(|_| start.elapsed())
    };
    let shortest =
        (0..4).map(|_| internet.namespace("here")?.run(handshake)?.map_err(NetError::Router));
    let shortest = shortest.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    drop(listener);
    println!("{}", internet.links().traffic());
    Ok(shortest.as_secs_f64() * 1_000.0)
}
