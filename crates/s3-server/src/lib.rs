//! S3 server over a directory, for tests: it checks signatures and conditional requests.
//!
//! The server runs in a thread of its own, so that its process can start and kill coordinators as
//! it likes.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpResponse};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Name of the one bucket.
const BUCKET: &str = "nearcrawl";
const ACCESS_KEY: &str = "test-access-key";
const SECRET_KEY: &str = "test-secret-key";

/// A running server; its objects are removed with it.
#[derive(Debug)]
pub struct S3Server {
    address: SocketAddr,
    dir: TempDir,
    is_away: Arc<AtomicBool>,
}

impl S3Server {
    /// Starts a server with an empty bucket on a free port of the loopback.
    pub fn start() -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join(BUCKET))?;
        let files =
            FileSystem::new(dir.path()).map_err(|error| io::Error::other(format!("{error:?}")))?;
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = builder.build();
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let is_away = Arc::new(AtomicBool::new(false));
        let serving = serve(listener, service, Arc::clone(&is_away));
        std::thread::spawn(move || runtime.block_on(serving));
        Ok(Self { address, dir, is_away })
    }

    /// Refuses all requests from now on, or serves them again.
    pub fn set_away(&self, is_away: bool) {
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    /// The location of a storage in the bucket.
    pub fn storage(&self) -> String {
        format!("s3://{BUCKET}/packages")
    }

    /// Directory that contains the objects of [`Self::storage`].
    pub fn objects(&self) -> PathBuf {
        self.dir.path().join(BUCKET).join("packages")
    }

    /// Endpoint, region and credentials, by the names of the options of clients.
    pub fn options(&self) -> [(&'static str, String); 4] {
        [
            ("endpoint_url", format!("http://{}", self.address)),
            ("region", "us-east-1".to_owned()),
            ("access_key_id", ACCESS_KEY.to_owned()),
            ("secret_access_key", SECRET_KEY.to_owned()),
        ]
    }

    /// The variables with which a coordinator uses this server.
    pub fn environment(&self) -> Vec<(String, String)> {
        let variable =
            |(name, value): (&str, String)| (format!("AWS_{}", name.to_uppercase()), value);
        let mut variables: Vec<_> = self.options().map(variable).into();
        variables.push(("NEARCRAWL_STORAGE".to_owned(), self.storage()));
        variables
    }
}

async fn serve(listener: std::net::TcpListener, service: S3Service, is_away: Arc<AtomicBool>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let answer = service_fn(move |request: Request<Incoming>| {
        let service = service.clone();
        let is_away = is_away.load(Ordering::Relaxed);
        async move { if is_away { Ok(refusal()) } else { Service::call(&service, request).await } }
    });
    while let Ok((socket, _)) = listener.accept().await {
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(socket), answer.clone());
        // A broken connection concerns its client only.
        tokio::spawn(async move { drop(connection.await) });
    }
}

fn refusal() -> HttpResponse {
    let mut response = HttpResponse::new(Body::empty());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
