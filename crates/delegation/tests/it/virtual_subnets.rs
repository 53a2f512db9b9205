//! A virtual subnet is delegated under the same rules as a registered one.

use std::collections::HashMap;

use delegation::audit::{AuditedAgent, AuditedDelegation, audit};
use delegation::constraints::{Correction, Exclusion, Pin, corrections};
use delegation::{Constraints, Home, home};
use hierarchy::{Generation, Hierarchy, Scope, SubnetKind, SubnetSplit};
use model::{ExclusionId, PinId, Reason};

use crate::map::{self, address, agent, delegation_table, subnet};

const WHOLE: &str = "20.1.0.0/16";
const PART: &str = "20.1.128.0/17";

/// A subnet whose second half is in another place.
fn hierarchy() -> Hierarchy {
    let registered = map::hierarchy(&[(WHOLE, Some("one")), ("20.0.0.0/8", None)]);
    let split = SubnetSplit { whole: WHOLE.parse().unwrap(), parts: vec![PART.parse().unwrap()] };
    registered.split(Generation::new(2), &[split]).unwrap().0
}

#[test]
fn it_has_a_kind_of_its_own() {
    let hierarchy = hierarchy();
    let kind = |range| hierarchy.subnet(subnet(&hierarchy, range)).kind();
    assert_eq!((kind(PART), kind(WHOLE)), (SubnetKind::Virtual, SubnetKind::Delegated));
    let delegable = SubnetKind::ALL.map(SubnetKind::may_be_delegated);
    assert_eq!(delegable, [false, false, true, true]);
}

#[test]
fn it_is_a_home_and_no_finding_of_the_audit() {
    let hierarchy = hierarchy();
    let table = delegation_table(&hierarchy, &[]);
    assert_eq!(
        home(&hierarchy, &table, agent(1), address("20.1.200.1")),
        Home::Assign(subnet(&hierarchy, PART))
    );
    let agents = [AuditedAgent { agent: agent(1), capacity: 10 }];
    let delegation = AuditedDelegation {
        range: PART.parse().unwrap(),
        agent: agent(1),
        reason: Reason::Home,
        generation: hierarchy.generation(),
        load: 1,
    };
    assert_eq!(audit(&hierarchy, &agents, &[delegation]), []);
}

#[test]
fn pins_and_exclusions_cover_it() {
    let hierarchy = hierarchy();
    let part = subnet(&hierarchy, PART);
    let whole = Scope::Range(WHOLE.parse().unwrap());
    let exclusion = Exclusion { id: ExclusionId::new(1), scope: whole.clone(), agent: agent(1) };
    let excluding = Constraints::new(vec![], vec![exclusion]);
    assert!(excluding.exclusion(&hierarchy, part, agent(1)).is_some());
    let pin =
        Pin { id: PinId::new(1), scope: Scope::Range(PART.parse().unwrap()), agent: agent(2) };
    let pinning = Constraints::new(vec![pin.clone()], vec![]);
    let table = delegation_table(&hierarchy, &[]);
    let due = corrections(&hierarchy, &pinning, &table, &HashMap::new(), []);
    let assigned = Correction::Assign { pin: pin.id, agent: agent(2) };
    assert_eq!(due.into_iter().collect::<Vec<_>>(), [(part, assigned)]);
    let wider = Pin { scope: whole, ..pin };
    assert!(Constraints::new(vec![wider], vec![]).pin(&hierarchy, part).is_some());
}
