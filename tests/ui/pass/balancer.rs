//! Balancers, under names and conditions that generated code might get wrong.

mod inner {
    #[chare::balancer(needs = edges)]
    pub(super) fn r#match(loads: &chare::Loads, moves: &mut chare::Moves) {
        let _ = (loads.edges(), moves);
    }
}

#[cfg(any())]
#[chare::balancer]
fn left_out(loads: &chare::Loads, moves: &mut chare::Moves, and: NoSuchType) {}

#[chare::balancer()]
#[cfg(any())]
fn left_out_by_the_macro(loads: &chare::Loads, moves: &mut chare::Moves) {}

#[chare::balancer]
#[expect(clippy::needless_lifetimes, reason = "users write such, too")]
fn borrowing<'a>(_: &'a chare::Loads, _: &mut chare::Moves) {
    mod chare {}
    let _ = inner::r#match;
}
