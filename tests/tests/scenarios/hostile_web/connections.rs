//! Connections that are slow, silent, or end at the wrong moment.

use super::Behaviour;
use super::script::{SLOW, Step, every_page_does, head_of_page, send_text, steps};

const NOT_HTTP: &str = "no complete HTTP answer";

pub(super) fn behaviours() -> Vec<Behaviour> {
    let page = |name, outcome, steps| Behaviour::page(name, outcome, every_page_does(steps));
    let half = || {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 99\r\n\r\n<p>Half";
        send_text(head)
    };
    let trickle = |text: &'static str| Step::Trickle(text.into(), SLOW);
    vec![
        page("silence", "no answer in time", vec![Step::Hang]),
        page(
            "slow head",
            "no answer in time",
            vec![send_text("HTTP/1.1 200 OK\r\nx-slow: "), trickle("a")],
        ),
        page("slow body", "came too slowly", vec![head_of_page(), trickle("<p>x")]),
        page("body that stops", "took too long", vec![half(), Step::Hang]),
        page("closed without an answer", NOT_HTTP, vec![]),
        page("reset before the answer", NOT_HTTP, vec![Step::Reset]),
        page("reset in the body", NOT_HTTP, vec![half(), Step::Reset]),
        page("half closed in the body", NOT_HTTP, vec![half(), Step::CloseHalf]),
        page("half closed before the answer", NOT_HTTP, vec![Step::CloseHalf]),
        Behaviour::tls("TLS that is HTTP", "TLS failed", steps(vec![send_text(BAD_REQUEST)])),
        Behaviour::tls("TLS that is garbage", "TLS failed", steps(vec![send_text(RECORD)])),
        Behaviour::tls("TLS that is closed", "TLS failed", steps(vec![])),
        Behaviour::tls("TLS that is silent", "no connection in time", steps(vec![Step::Hang])),
    ]
}

const BAD_REQUEST: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";

/// The header of a handshake record, and then nonsense.
const RECORD: &str = "\u{16}\u{3}\u{3}\0\u{20}nonsense nonsense nonsense nonsense";
