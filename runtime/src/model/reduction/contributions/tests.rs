//! Contributions of members that stay, come and go on one PE.

use super::*;
use crate::model::callback::Callback;
use crate::model::ids::Index;
use crate::model::reduction::reducers::{set, sum};

fn share(value: u64) -> Share {
    Share::new(sum(value).of_member(Index::from(0), || 0), Callback::<u64>::ignore().erase())
}

fn tally(partial: &Partial) -> (u64, u64, u64, i64) {
    let Tally { closed, contributed, expected } = partial.tally;
    (partial.number, closed, contributed, expected)
}

/// The tallies of the reductions that close now.
fn closed(state: &mut Contributions) -> Vec<(u64, u64, u64, i64)> {
    std::iter::from_fn(|| state.close()).map(|partial| tally(&partial)).collect()
}

#[test]
fn a_reduction_closes_when_all_who_are_here_have_contributed_and_in_order() {
    let mut state = Contributions::new(2, true);
    for number in [0, 1] {
        assert!(state.add(number, None, share(1)).unwrap().is_none());
    }
    assert_eq!(closed(&mut state), []);
    assert!(state.add(0, None, share(1)).unwrap().is_none());
    assert_eq!(closed(&mut state), [(0, 1, 2, 2)]);
    assert!(state.add(1, None, share(1)).unwrap().is_none());
    assert_eq!(closed(&mut state), [(1, 1, 2, 2)]);
}

#[test]
fn who_is_neither_the_first_nor_the_last_joins() {
    let mut state = Contributions::new(4, true);
    let callback = Callback::<u64>::ignore().erase();
    let join = |state: &mut Contributions, data| state.join(0, None, &data, &callback);
    let five = || sum(5_u64).of_member(Index::from(1), || 0);
    assert!(!join(&mut state, five()), "it would be the first");
    assert!(state.add(0, None, share(1)).unwrap().is_none());
    assert!(join(&mut state, five()));
    for misfit in [sum(5_u32).of_member(Index::from(1), || 0), set(5_u64).of_member(Index::from(1), || 0)] {
        assert!(!join(&mut state, misfit));
    }
    assert!(!state.join(0, None, &five(), &Callback::<u64>::exit().erase()), "it names another callback");
    assert!(!state.join(1, None, &five(), &callback), "of the next it would be the first");
    assert!(state.add(0, None, share(10)).unwrap().is_none());
    assert!(!join(&mut state, five()), "it would be the last");
    assert_eq!(closed(&mut state), []);
    assert!(state.add(0, None, share(100)).unwrap().is_none());
    let partial = state.close().expect("all have contributed");
    assert_eq!(tally(&partial), (0, 1, 4, 4));
    assert_eq!(partial.share.unwrap().finish().unwrap().take().ok(), Some(116_u64));
    assert!(!join(&mut state, five()), "it is closed");
}

#[test]
fn who_is_born_begins_with_the_first_that_is_not_closed() {
    let mut state = Contributions::new(1, true);
    state.add(0, None, share(1)).unwrap();
    assert_eq!(closed(&mut state), [(0, 1, 1, 1)]);
    state.add(1, None, share(1)).unwrap();
    assert_eq!(state.add_member(), 1);
    assert_eq!(
        closed(&mut state),
        [],
        "it is awaited before it has contributed, even while it is being born"
    );
    state.add(1, None, share(1)).unwrap();
    assert_eq!(closed(&mut state), [(1, 1, 2, 2)]);
}

#[test]
fn who_dies_is_awaited_no_more_and_what_it_contributed_counts() {
    let mut state = Contributions::new(2, true);
    for number in [0, 1] {
        state.add(number, None, share(1)).unwrap();
    }
    // The member that contributed twice dies; then the other member contributes three times.
    assert!(!state.remove_member(2));
    assert_eq!(closed(&mut state), []);
    for number in [0, 1, 2] {
        state.add(number, None, share(1)).unwrap();
    }
    assert_eq!(closed(&mut state), [(0, 1, 2, 2), (1, 1, 2, 2), (2, 1, 1, 1)]);
    assert!(state.remove_member(3));
    assert_eq!(closed(&mut state), [], "nobody has begun another");
}

#[test]
fn a_pe_without_members_closes_what_has_begun() {
    let mut state = Contributions::new(0, true);
    assert_eq!(closed(&mut state), []);
    state.begin(Begun::new(1, None)).unwrap();
    assert_eq!(
        closed(&mut state),
        [],
        "it closes in order, and what it was not told of may be a call that it has not heard"
    );
    state.begin(Begun::new(0, None)).unwrap();
    assert_eq!(closed(&mut state), [(0, 1, 0, 0), (1, 1, 0, 0)]);
    assert_eq!(state.add_member(), 2);
    state.begin(Begun::new(2, None)).unwrap();
    assert_eq!(closed(&mut state), [], "there is a member now");
    assert!(state.remove_member(2));
    assert_eq!(closed(&mut state), [(2, 1, 0, 0)]);
}

#[test]
fn a_late_contribution_and_one_from_a_pe_that_takes_no_part_go_on_their_own() {
    let mut state = Contributions::new(1, true);
    state.add(0, None, share(1)).unwrap();
    assert_eq!(closed(&mut state).len(), 1);
    assert_eq!(tally(&state.add(0, None, share(1)).unwrap().unwrap()), (0, 0, 1, 0));
    let mut none = Contributions::new(0, false);
    none.begin(Begun::new(0, None)).unwrap();
    assert_eq!(closed(&mut none), []);
    assert_eq!(tally(&none.add(0, None, share(1)).unwrap().unwrap()), (0, 0, 1, 0));
}
