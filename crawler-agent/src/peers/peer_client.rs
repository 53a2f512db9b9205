//! Client of the listener of a peer.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use model::CrawlUrl;
use region::relay::{RELAY_BYTES, is_listener_url};
use reqwest::{Client, StatusCode, redirect::Policy};

use crate::{error_line, lock::lock, resolve::Resolver};

/// Time limit of a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Client of one peer's listener.
pub(super) struct PeerClient {
    resolver: Arc<Resolver>,
    bind: Option<IpAddr>,
    /// The last HTTP client, with the host and the sockets that it connects to.
    made: Mutex<Option<(Target, Client)>>,
}

/// A host, and its sockets as the guard saw them.
type Target = (String, Vec<SocketAddr>);

impl PeerClient {
    /// Posts to a path below a peer's URL, and returns the content of an answer with the status of
    /// a listener. The guard checks the address, because the URL is a claim of another owner.
    pub(super) async fn post(
        &self,
        base: &str,
        path: &str,
        (body, status): (Vec<u8>, StatusCode),
        timeout: Duration,
    ) -> Result<Vec<u8>, String> {
        if !is_listener_url(base) {
            return Err("it is no URL of a listener".into());
        }
        let url = CrawlUrl::parse(&format!("{}/{path}", base.trim_end_matches('/')));
        let url = url.map_err(|error| error.to_string())?;
        let addresses = self.resolver.addresses_of_peer(&url).await;
        let addresses = addresses.map_err(|error| error.to_string())?;
        let sockets: Vec<SocketAddr> =
            addresses.iter().map(|address| SocketAddr::new(*address, url.port())).collect();
        let client = self.client(&url, sockets).map_err(|error| error_line::of(&error))?;
        let answer = client.post(url.as_str()).timeout(timeout).body(body).send().await;
        let mut answer = answer.map_err(|error| error_line::of(&error))?;
        // Some servers answer 200 to any request.
        if answer.status() != status {
            return Err(format!("status {}", answer.status()));
        }
        let mut content = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| error_line::of(&error))? {
            content.extend_from_slice(&chunk);
            if content.len() > RELAY_BYTES {
                return Err("the answer is too large".into());
            }
        }
        Ok(content)
    }
}

impl PeerClient {
    pub(super) fn new(resolver: Arc<Resolver>, bind: Option<IpAddr>) -> Self {
        Self { resolver, bind, made: Mutex::default() }
    }

    /// A client that connects to these sockets only, kept for its connections. It knows the sockets
    /// of this host alone, and would look another one up without the guard.
    fn client(&self, url: &CrawlUrl, sockets: Vec<SocketAddr>) -> Result<Client, reqwest::Error> {
        let host = url.url().host_str().unwrap_or_default().to_owned();
        let target = (host, sockets);
        let mut made = lock(&self.made);
        if let Some((known, client)) = made.as_ref()
            && *known == target
        {
            return Ok(client.clone());
        }
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .local_address(self.bind)
            .redirect(Policy::none())
            .no_proxy()
            .resolve_to_addrs(&target.0, &target.1)
            .build()?;
        *made = Some((target, client.clone()));
        Ok(client)
    }
}
