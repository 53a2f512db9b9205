//! Tests of the name server with a real resolver.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use super::*;

fn zone() -> Zone {
    let many = (0..200).map(|last| IpAddr::from([203, 0, 113, last])).collect();
    let both = vec![IpAddr::from([198, 51, 100, 1]), "2001:db8::1".parse().unwrap()];
    let one = vec![IpAddr::from([192, 0, 2, 7])];
    let names = [("www.harbour.gr", both), ("Mill.example.", one), ("many.example", many)];
    Zone::new(names.map(|(name, addresses)| (name.to_owned(), addresses)))
}

fn resolver(server: &Server) -> TokioResolver {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.address().port();
        connection
    });
    let name_server = NameServerConfig::new(server.address().ip(), true, connections.into());
    let config = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.options_mut().timeout = Duration::from_secs(5);
    builder.build().unwrap()
}

fn serve() -> Server {
    Server::start(zone(), Sockets::open("127.0.0.1:0".parse().unwrap()).unwrap()).unwrap()
}

fn addresses(found: impl Iterator<Item = IpAddr>) -> Vec<String> {
    let mut found: Vec<_> = found.map(|address| address.to_string()).collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_resolver_finds_our_names_in_both_families_and_any_case() {
    let server = serve();
    let resolver = resolver(&server);
    let found = resolver.lookup_ip("WWW.Harbour.gr.").await.unwrap();
    assert!(addresses(found.iter()).contains(&"198.51.100.1".to_owned()));
    let four = resolver.ipv4_lookup("mill.example.").await.unwrap();
    assert_eq!(four.answers().len(), 1);
    assert!(resolver.ipv6_lookup("mill.example.").await.unwrap_err().is_no_records_found());
}

#[tokio::test]
async fn names_of_others_do_not_exist() {
    let server = serve();
    let error = resolver(&server).lookup_ip("www.example.com.").await.unwrap_err();
    assert!(error.is_nx_domain(), "{error}");
}

#[tokio::test]
async fn what_is_too_long_for_udp_comes_over_tcp() {
    let server = serve();
    let found = resolver(&server).ipv4_lookup("many.example.").await.unwrap();
    assert_eq!(found.answers().len(), 200);
}

fn ask(change: impl Fn(&mut Message)) -> Option<Message> {
    let mut question = Message::query();
    question.add_query(Query::query("many.example.".parse::<Name>().unwrap(), RecordType::A));
    change(&mut question);
    let answer = zone().answer_udp(&question.to_vec().unwrap())?;
    assert!(answer.len() <= 1_232);
    Some(Message::from_vec(&answer).unwrap())
}

#[test]
fn strange_messages_get_the_code_that_says_so_or_silence() {
    let cut = ask(|_| {}).unwrap();
    assert!(cut.metadata.truncation && cut.answers.is_empty());
    let code = |change: &dyn Fn(&mut Message)| ask(change).unwrap().metadata.response_code;
    assert_eq!(code(&|m| m.queries.clear()), ResponseCode::FormErr);
    assert_eq!(code(&|m| m.metadata.op_code = OpCode::Status), ResponseCode::NotImp);
    let chaos = |m: &mut Message| {
        m.queries[0].set_query_class(DNSClass::CH);
    };
    assert_eq!(code(&chaos), ResponseCode::NotImp);
    assert!(ask(|m| m.metadata.message_type = MessageType::Response).is_none());
    assert!(zone().answer_udp(b"not a message").is_none());
    assert!(zone().answer_tcp(&[]).is_none());
}
