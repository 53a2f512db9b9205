//! Which host a request is for.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use crate::web::WebPlan;

/// The hosts of a web by name and address.
#[derive(Debug)]
pub(super) struct Hosts {
    by_name: HashMap<Vec<u8>, u32>,
    by_address: HashMap<Ipv4Addr, u32>,
}

impl Hosts {
    pub(super) fn new(plan: &WebPlan) -> Self {
        let by_name = (0..plan.hosts).map(|host| (plan.host_name(host).into_bytes(), host));
        let by_address = (0..plan.hosts).map(|host| (plan.address(host), host));
        Self { by_name: by_name.collect(), by_address: by_address.collect() }
    }

    /// The host that a header names, if it answers at the address of the connection.
    pub(super) fn find(&self, plan: &WebPlan, header: &[u8], local: Ipv4Addr) -> Option<u32> {
        let named = self.by_name.get(header).copied()?;
        (plan.address(named) == local).then_some(named)
    }

    /// Whether any host answers at an address.
    pub(super) fn answer_at(&self, address: Ipv4Addr) -> bool {
        self.by_address.contains_key(&address)
    }
}
