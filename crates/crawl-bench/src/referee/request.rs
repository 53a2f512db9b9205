//! Heads of requests: the little of HTTP/1.1 that the referee needs to know.

/// A request, as far as it decides the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request<'a> {
    /// Whether only the head of the answer is wanted.
    pub(super) head_only: bool,
    pub(super) path: &'a [u8],
    /// The `Host` header without the port.
    pub(super) host: &'a [u8],
    pub(super) accepts_gzip: bool,
    /// Whether the connection stays open after the answer.
    pub(super) keeps_alive: bool,
}

/// Length of the head at the start of `bytes` with its empty line; none while it is incomplete.
pub(super) fn head_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// Parses a head; none when it is no GET or HEAD request.
pub(super) fn parse(head: &[u8]) -> Option<Request<'_>> {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut words = lines.next()?.split(|byte| *byte == b' ');
    let method = words.next()?;
    let target = words.next()?;
    let version = words.next()?;
    if method != b"GET" && method != b"HEAD" {
        return None;
    }
    let mut request = Request {
        head_only: method == b"HEAD",
        path: target,
        host: b"",
        accepts_gzip: false,
        keeps_alive: version == b"HTTP/1.1",
    };
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let value = line[colon + 1..].trim_ascii();
        apply(&mut request, &line[..colon], value);
    }
    Some(request)
}

fn apply<'a>(request: &mut Request<'a>, name: &[u8], value: &'a [u8]) {
    if name.eq_ignore_ascii_case(b"host") {
        request.host = value.split(|byte| *byte == b':').next().unwrap_or(value);
    } else if name.eq_ignore_ascii_case(b"accept-encoding") {
        request.accepts_gzip = value.windows(4).any(|word| word.eq_ignore_ascii_case(b"gzip"));
    } else if name.eq_ignore_ascii_case(b"connection") {
        if value.eq_ignore_ascii_case(b"close") {
            request.keeps_alive = false;
        } else if value.eq_ignore_ascii_case(b"keep-alive") {
            request.keeps_alive = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed() {
        let bytes = b"GET /pages/7.html HTTP/1.1\r\nHOST: 127.16.0.1:8080\r\n\
            Accept-Encoding: br, gzip\r\n\r\nrest";
        let length = head_length(bytes).unwrap();
        assert_eq!(&bytes[length..], b"rest");
        let request = parse(&bytes[..length]).unwrap();
        assert_eq!(request.path, b"/pages/7.html");
        assert_eq!(request.host, b"127.16.0.1");
        assert!(request.accepts_gzip && request.keeps_alive && !request.head_only);
    }

    #[test]
    fn connections_are_closed_as_the_client_asks() {
        let keeps = |head: &[u8]| parse(head).unwrap().keeps_alive;
        assert!(!keeps(b"HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!(!keeps(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n"));
        assert!(keeps(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    }

    #[test]
    fn other_methods_and_incomplete_heads_are_refused() {
        assert_eq!(head_length(b"GET / HTTP/1.1\r\nHost: a\r\n"), None);
        assert_eq!(parse(b"POST / HTTP/1.1\r\n\r\n"), None);
        assert_eq!(parse(b"GET\r\n\r\n"), None);
    }
}
