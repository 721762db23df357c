//! Balancers of the program: functions that plan moves, found by their names.

use super::linked::Linked;
use crate::model::loads::{Loads, Moves};
use std::sync::OnceLock;

/// The registration of a function that `#[chare::balancer]` stands on.
#[derive(Debug)]
pub struct BalancerRegistration {
    pub(crate) name: &'static str,
    pub(crate) needs_edges: bool,
    pub(crate) plan: fn(&Loads, &mut Moves),
}

impl BalancerRegistration {
    /// The registration of a function under its name.
    pub const fn new(name: &'static str, needs_edges: bool, plan: fn(&Loads, &mut Moves)) -> Self {
        Self { name, needs_edges, plan }
    }
}

inventory::collect!(BalancerRegistration);

/// The balancers of this program.
pub(crate) fn balancers() -> &'static Linked<&'static str, BalancerRegistration> {
    static BALANCERS: OnceLock<Linked<&'static str, BalancerRegistration>> = OnceLock::new();
    BALANCERS.get_or_init(|| {
        let linked = inventory::iter::<BalancerRegistration>();
        Linked::collect(linked, |balancer| balancer.name, |balancer| balancer.name)
    })
}
