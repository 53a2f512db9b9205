//! Answers to DNS queries, without sockets.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hickory_proto::op::{Edns, Message, MessageType, Metadata, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, SOA};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};

/// How long an answer may be kept, in seconds. Names do not move while an internet lives.
const TTL_S: u32 = 3_600;
/// How long it may be kept that there is no such name.
const NEGATIVE_TTL_S: u32 = 60;
/// What fits into UDP without EDNS (RFC 1035 section 4.2.1).
const PLAIN_UDP: u16 = 512;
/// What we send over UDP at most, whatever the asker would take: no fragments.
const MOST_UDP: u16 = 1_232;

/// Names and their addresses.
#[derive(Debug, Clone, Default)]
pub struct Zone {
    names: BTreeMap<String, Vec<IpAddr>>,
}

impl Zone {
    /// A zone of these names; upper and lower case are the same, a dot at the end does not matter.
    pub fn new(names: impl IntoIterator<Item = (String, Vec<IpAddr>)>) -> Self {
        let names = names.into_iter().map(|(name, addresses)| (plain(&name), addresses));
        Self { names: names.collect() }
    }

    /// The answer to a message, no longer than the asker takes over UDP; none when it is not a
    /// question at all.
    pub fn answer_udp(&self, question: &[u8]) -> Option<Vec<u8>> {
        let question = Message::from_vec(question).ok()?;
        let most =
            question.edns.as_ref().map_or(PLAIN_UDP, Edns::max_payload).clamp(PLAIN_UDP, MOST_UDP);
        let answer = self.answer(&question)?;
        let bytes = answer.to_vec().ok()?;
        if bytes.len() <= usize::from(most) { Some(bytes) } else { answer.truncate().to_vec().ok() }
    }

    /// The answer to a message over TCP, whole.
    pub fn answer_tcp(&self, question: &[u8]) -> Option<Vec<u8>> {
        self.answer(&Message::from_vec(question).ok()?)?.to_vec().ok()
    }

    fn answer(&self, question: &Message) -> Option<Message> {
        let asked = &question.metadata;
        if asked.message_type != MessageType::Query {
            return None;
        }
        let mut answer = Message::response(asked.id, asked.op_code);
        answer.metadata = Metadata::response_from_request(asked);
        answer.metadata.recursion_available = true;
        answer.edns = question.edns.as_ref().map(|_| edns());
        let [query] = question.queries.as_slice() else {
            answer.metadata.response_code = ResponseCode::FormErr;
            return Some(answer);
        };
        answer.add_query(query.clone());
        if asked.op_code != OpCode::Query || query.query_class() != DNSClass::IN {
            answer.metadata.response_code = ResponseCode::NotImp;
            return Some(answer);
        }
        self.look_up(query, &mut answer);
        Some(answer)
    }

    fn look_up(&self, query: &Query, answer: &mut Message) {
        answer.metadata.authoritative = true;
        let addresses = self.names.get(&plain(&query.name().to_ascii()));
        let records = addresses.into_iter().flatten().filter_map(|address| record(query, *address));
        answer.add_answers(records.collect::<Vec<_>>());
        if addresses.is_none() {
            answer.metadata.response_code = ResponseCode::NXDomain;
        }
        if answer.answers.is_empty() {
            answer.add_authority(nobody(query));
        }
    }
}

/// The record for an address, where the query asks for its kind.
fn record(query: &Query, address: IpAddr) -> Option<Record> {
    let data = match (address, query.query_type()) {
        (IpAddr::V4(v4), RecordType::A | RecordType::ANY) => RData::A(A(v4)),
        (IpAddr::V6(v6), RecordType::AAAA | RecordType::ANY) => RData::AAAA(AAAA(v6)),
        _ => return None,
    };
    Some(Record::from_rdata(query.name().clone(), TTL_S, data))
}

/// Says how long to remember that there is nothing (RFC 2308).
fn nobody(query: &Query) -> Record {
    let top = query.name().trim_to(1);
    let soa = SOA::new(Name::root(), Name::root(), 1, 3_600, 600, 86_400, NEGATIVE_TTL_S);
    Record::from_rdata(top, NEGATIVE_TTL_S, RData::SOA(soa))
}

fn edns() -> Edns {
    let mut edns = Edns::new();
    edns.set_max_payload(MOST_UDP);
    edns
}

fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
