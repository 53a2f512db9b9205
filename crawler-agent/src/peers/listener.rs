//! Listener: takes envelopes from peers, and keeps those for peers that accept no connections until
//! they collect them. Only where the owner sets `listen` in `[peer]`.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, DefaultBodyLimit, Request, State},
    http::StatusCode,
    routing::post,
};
use region::{Peer, envelope::Envelope, message::Lane, relay::RELAY_FILL};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    Peers,
    connections::{BoundedListener, ClientAddress},
    request_body::BodyReader,
};

/// Path at which envelopes are left.
pub(super) const ENVELOPES: &str = "region/v1/envelopes";
/// Time for which a collection waits for an envelope.
const HOLD: Duration = Duration::from_secs(20);
/// Longest request for the envelopes of a mailbox: one envelope without content.
const COLLECT_BYTES: usize = 4 << 10;

/// Path at which a peer collects its envelopes in one lane.
pub(super) fn collect_path(lane: Lane) -> &'static str {
    match lane {
        Lane::Others => "region/v1/collect",
        Lane::Bundles => "region/v1/collect-bundles",
    }
}

/// A bound socket.
pub struct PeerListener {
    listener: TcpListener,
}

#[derive(Clone)]
struct ListenerState {
    peers: Arc<Peers>,
    bodies: Arc<BodyReader>,
    stop: CancellationToken,
}

impl PeerListener {
    /// Binds the address of the configuration; none where the owner wants no listener.
    pub async fn bind(address: Option<SocketAddr>) -> std::io::Result<Option<Self>> {
        let Some(address) = address else { return Ok(None) };
        Ok(Some(Self { listener: TcpListener::bind(address).await? }))
    }

    /// Serves until `stop`.
    pub async fn run(self, peers: Arc<Peers>, stop: CancellationToken) -> std::io::Result<()> {
        let bodies = Arc::new(BodyReader::new());
        let state = ListenerState { peers, bodies, stop: stop.clone() };
        let mut app = Router::new().route(&format!("/{ENVELOPES}"), post(envelopes));
        for lane in Lane::ALL {
            let answer = move |state, body| collect(state, lane, body);
            app = app.route(&format!("/{}", collect_path(lane)), post(answer));
        }
        let app = app.layer(DefaultBodyLimit::max(COLLECT_BYTES)).with_state(state);
        let app = app.into_make_service_with_connect_info::<ClientAddress>();
        let serving = axum::serve(BoundedListener::new(self.listener), app);
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            served = serving => served,
        }
    }
}

/// Takes envelopes: those to this agent, and those to members that collect theirs here.
async fn envelopes(
    State(state): State<ListenerState>,
    ConnectInfo(from): ConnectInfo<ClientAddress>,
    request: Request,
) -> StatusCode {
    let (body, _place) = match state.bodies.read(from, request).await {
        Ok(read) => read,
        Err(status) => return status,
    };
    let Ok(envelopes) = postcard::from_bytes::<Vec<Envelope>>(&body) else {
        return StatusCode::UNPROCESSABLE_ENTITY;
    };
    let mut status = StatusCode::NO_CONTENT;
    for envelope in envelopes {
        if state.peers.take_from_peer(envelope).is_err() {
            status = StatusCode::FORBIDDEN;
        }
    }
    status
}

/// Answers with the envelopes in one lane to the sender of a signed request.
async fn collect(
    State(state): State<ListenerState>,
    lane: Lane,
    body: Bytes,
) -> Result<Vec<u8>, StatusCode> {
    let envelope: Envelope =
        postcard::from_bytes(&body).map_err(|_| StatusCode::UNPROCESSABLE_ENTITY)?;
    let from = state.peers.receive(&envelope).map_err(|_| StatusCode::FORBIDDEN)?;
    let waiting = state.peers.shared.outgoing.take_kept(from, lane, RELAY_FILL);
    let waited = tokio::select! {
        waited = tokio::time::timeout(HOLD, waiting) => waited,
        () = state.stop.cancelled() => return Err(StatusCode::SERVICE_UNAVAILABLE),
    };
    postcard::to_allocvec(&waited.unwrap_or_default())
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

impl Peers {
    /// Takes an envelope that a peer left here; an error where it is refused.
    fn take_from_peer(&self, envelope: Envelope) -> Result<(), StatusCode> {
        let header = envelope.header().ok_or(StatusCode::UNPROCESSABLE_ENTITY)?;
        if header.to == Peer::Agent(self.shared.identity.agent) {
            let received = self.receive(&envelope);
            return received.map(drop).map_err(|refusal| {
                tracing::debug!(%refusal, "refused an envelope of a peer");
                StatusCode::FORBIDDEN
            });
        }
        let coordinator = self.shared.identity.coordinator;
        let may_pass = self.shared.with_core(|core| core.may_pass(&envelope, &coordinator));
        if may_pass != Some(true) {
            return Err(StatusCode::FORBIDDEN);
        }
        self.shared.outgoing.keep(header.to, envelope);
        Ok(())
    }
}
