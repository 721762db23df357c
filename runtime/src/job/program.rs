//! Identity of the program, which nodes compare before they meet: everything that is linked in, by names and signatures.

use crate::model::collection::maps;
use crate::model::reduction::reducers::reducers;
use crate::model::registry::name::Digest;
use crate::model::registry::registry;
use std::sync::OnceLock;

/// The digest of the program: equal in two processes if they have the same chare types, traits, placement maps and reducers, with the
/// same entries and signatures.
pub(super) fn digest() -> u128 {
    static DIGEST: OnceLock<u128> = OnceLock::new();
    *DIGEST.get_or_init(|| {
        let mut digest = Digest::new();
        registry().add_to(&mut digest);
        maps().iter().for_each(|map| digest.add(map.name, "map"));
        reducers().iter().for_each(|reducer| digest.add("reducer", reducer.name));
        digest.value()
    })
}

/// A name that two types, traits, maps or reducers share, if there is one: the job must not start.
pub(super) fn duplicate() -> Option<&'static str> {
    let map = || maps().duplicate().map(|map| map.name);
    let reducer = || reducers().duplicate().map(|reducer| reducer.name);
    registry().duplicate().or_else(map).or_else(reducer)
}
