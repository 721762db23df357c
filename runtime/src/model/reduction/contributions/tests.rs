//! Contributions of members that stay, come and go on one PE.

use super::*;
use crate::model::callback::Callback;
use crate::model::ids::{CollectionId, PeId};
use crate::model::reduction::reducers::{set, sum};

fn callback(reference: u64) -> ErasedCallback {
    Callback::<u64>::ignore().with_reference(reference).erase()
}

fn broadcast(serial: u64) -> BroadcastId {
    BroadcastId { collection: CollectionId { creator: PeId(0), serial: 0 }, caller: PeId(0), serial }
}

/// Members and what they contributed to; the next reduction of each.
struct Members {
    state: Contributions,
    next: Vec<Standing>,
}

impl Members {
    fn new(members: u64, grows: bool) -> Self {
        Self { state: Contributions::new(members, grows), next: vec![Standing::NEW; members as usize] }
    }

    /// Lets a member contribute its bit; returns the reference number and the result of what is closed by it.
    fn add(&mut self, member: usize, reference: u64, within: Option<u64>) -> Option<(u64, u64)> {
        let share = Share::new(sum(1_u64 << member).of_member(Index::from(0), || 0), callback(reference));
        let contributor = (Index::from(member as u64), self.next[member]);
        let added = self.state.add(contributor, within.map(broadcast), share);
        let (next, closed) = added.unwrap();
        self.next[member] = next;
        closed.map(|(_, partial)| show(partial))
    }

    fn close(&mut self) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| self.state.close()).map(|(_, partial)| show(partial)).collect()
    }

    fn born(&mut self) {
        let next = self.state.add_member(Index::from(self.next.len() as u64));
        self.next.push(next);
    }

    fn die(&mut self, member: usize) {
        self.state.remove_member(Index::from(member as u64), self.next[member]);
    }

    fn begin(&mut self, reference: u64, within: Option<u64>) -> Vec<(u64, u64)> {
        let name = Name { callback: callback(reference), within: within.map(broadcast) };
        self.state.begin(Begun { heard: 0, missing: vec![name] }).unwrap();
        self.close()
    }
}

/// The reference number and the result, 0 if nobody contributed.
fn show(partial: Box<Partial>) -> (u64, u64) {
    let reference = partial.callback.reference;
    let result = partial.data.is_some().then(|| partial.finish().unwrap().take().ok().unwrap());
    (reference, result.unwrap_or(0))
}

#[test]
fn a_reduction_closes_when_all_who_are_here_have_contributed_to_it() {
    let mut members = Members::new(2, false);
    assert_eq!([1, 2].map(|reference| members.add(0, reference, None)), [None, None]);
    assert_eq!(members.add(1, 1, None), Some((1, 3)));
    assert_eq!(members.add(1, 2, None), Some((2, 3)));
    assert_eq!(members.close(), []);
}

#[test]
fn members_contribute_to_different_reductions_in_any_order_and_to_those_of_one_callback_in_order() {
    let mut members = Members::new(3, false);
    assert_eq!([1, 2, 1, 3].map(|reference| members.add(0, reference, None)), [None; 4]);
    assert_eq!([3, 1, 1, 2].map(|reference| members.add(1, reference, None)), [None; 4]);
    let closed = [2, 1, 3, 1].map(|reference| members.add(2, reference, None));
    assert_eq!(closed, [(2, 7), (1, 7), (3, 7), (1, 7)].map(Some));
    assert_eq!(members.next.iter().max(), Some(&Standing::before(4)), "nobody remembers more than it has to");
    let closed = [0, 1, 2].map(|member| members.add(member, 9, None));
    assert_eq!(closed, [None, None, Some((9, 7))]);
    assert_eq!(members.next, [Standing::before(5); 3], "and all are in order again");
}

#[test]
fn what_began_first_may_end_last() {
    let mut members = Members::new(2, false);
    members.add(0, 1, None);
    for reference in 2..20 {
        assert_eq!(members.add(1, reference, None), None);
        assert_eq!(members.add(0, reference, None), Some((reference, 3)));
    }
    assert_eq!(members.state.line.len(), 1);
    assert_eq!(members.add(1, 1, None), Some((1, 3)));
}

#[test]
fn who_is_neither_the_first_nor_the_last_joins() {
    let mut state = Contributions::new(4, false);
    let join = |state: &mut Contributions, data| state.join(0, None, &data, &callback(0));
    let five = || sum(5_u64).of_member(Index::from(1), || 0);
    let add = |state: &mut Contributions, member: u64, number: u64| {
        let share = Share::new(sum(number).of_member(Index::from(member), || 0), callback(0));
        state.add((Index::from(member), Standing::NEW), None, share).unwrap().1
    };
    assert!(!join(&mut state, five()), "it would be the first");
    assert!(add(&mut state, 0, 1).is_none());
    assert!(join(&mut state, five()));
    for misfit in [sum(5_u32).of_member(Index::from(1), || 0), set(5_u64).of_member(Index::from(1), || 0)] {
        assert!(!join(&mut state, misfit));
    }
    assert!(!state.join(0, None, &five(), &callback(1)), "it names another callback");
    assert!(!state.join(1, None, &five(), &callback(0)), "of the next it would be the first");
    assert!(add(&mut state, 2, 10).is_none());
    assert!(!join(&mut state, five()), "it would be the last");
    let (_, partial) = add(&mut state, 3, 100).expect("all have contributed");
    assert_eq!((partial.contributed, partial.finish().unwrap().take().ok()), (4, Some(116_u64)));
    assert!(!join(&mut state, five()), "it is closed");
}

#[test]
fn who_is_born_is_awaited_in_what_is_not_closed() {
    let mut members = Members::new(1, true);
    assert_eq!(members.add(0, 1, None), Some((1, 1)));
    members.born();
    assert_eq!(members.add(0, 2, None), None, "the newcomer is awaited, even while it is being born");
    assert_eq!(members.add(1, 2, None), Some((2, 3)));
}

#[test]
fn who_dies_is_awaited_no_more_and_what_it_contributed_counts() {
    let mut members = Members::new(2, false);
    assert_eq!([2, 1].map(|reference| members.add(0, reference, None)), [None, None]);
    members.add(1, 3, None);
    members.die(0);
    assert_eq!(members.close(), [(3, 2)]);
    assert_eq!([1, 2].map(|reference| members.add(1, reference, None)), [Some((1, 3)), Some((2, 3))]);
    assert_eq!(members.state.leave(), None);
    members.die(1);
    assert_eq!(members.close(), []);
    assert_eq!([members.state.leave(), members.state.leave()], [Some(3), None]);
}

#[test]
fn a_pe_without_members_closes_what_has_begun() {
    let mut members = Members::new(0, true);
    assert_eq!(members.begin(1, None), [(1, 0)]);
    assert_eq!(members.begin(1, None), [], "it has said that");
    assert_eq!(members.begin(2, Some(7)), [], "it has not carried the call out");
    members.state.hear(broadcast(7));
    assert_eq!(members.close(), [(2, 0)]);
    members.born();
    assert_eq!(members.begin(3, None), [], "there is a member now");
    members.die(0);
    assert_eq!(members.close(), [(3, 0)]);
}

#[test]
fn who_missed_a_call_is_not_awaited_however_late_it_is_known_or_begins() {
    let mut members = Members::new(1, true);
    members.state.hear(broadcast(1));
    members.born();
    assert_eq!(members.add(1, 5, None), None, "it may have part in anything else");
    assert_eq!(members.add(0, 1, Some(1)), Some((1, 1)));
    assert_eq!(members.begin(2, None), [], "it may be one of those");
    assert_eq!(members.add(0, 2, Some(1)), Some((2, 1)), "but it is none");
    assert_eq!(members.add(0, 5, None), Some((5, 3)));
    let share = Share::new(sum(1_u64).of_member(Index::from(0), || 0), callback(1));
    let refused = members.state.add((Index::from(1), members.next[1]), Some(broadcast(1)), share);
    assert!(matches!(refused, Err(Refusal::Missed(_))));
}

#[test]
fn calls_with_one_callback_are_told_apart_where_they_are_known() {
    let mut members = Members::new(2, true);
    [1, 2].into_iter().for_each(|call| members.state.hear(broadcast(call)));
    assert_eq!([1, 2].map(|call| members.add(0, 0, Some(call))), [None, None]);
    let share = |value: u64| Share::new(sum(value).of_member(Index::from(1), || 0), callback(0));
    let (next, closed) =
        members.state.add((Index::from(1), Standing::NEW), Some(broadcast(2)), share(10)).unwrap();
    assert_eq!(closed.map(|(_, partial)| partial.within), Some(Some(broadcast(2))));
    let (_, closed) = members.state.add((Index::from(1), next), Some(broadcast(1)), share(20)).unwrap();
    assert_eq!(closed.map(|(_, partial)| show(partial)), Some((0, 21)));
}

#[test]
fn who_is_born_with_the_index_of_a_dead_one_has_contributed_to_nothing() {
    let mut members = Members::new(3, true);
    // The one that dies has contributed ahead of the first reduction, and in one case to what came after that, too.
    for catches_up in [false, true] {
        let [first, second, third] = if catches_up { [4, 5, 6] } else { [1, 2, 3] };
        assert_eq!(members.add(1, first, None), None);
        assert_eq!(members.add(0, second, None), None);
        if catches_up {
            assert_eq!([first, third].map(|reference| members.add(0, reference, None)), [None; 2]);
        }
        members.die(0);
        assert_eq!(members.close(), []);
        members.next[0] = members.state.add_member(Index::from(0));
        let of_the_dead = |contributed: bool| u64::from(contributed);
        assert_eq!([second, third].map(|reference| members.add(1, reference, None)), [None; 2]);
        assert_eq!([first, second, third].map(|reference| members.add(2, reference, None)), [None; 3]);
        let closed = [first, second, third].map(|reference| members.add(0, reference, None));
        let sums = [of_the_dead(catches_up), of_the_dead(true), of_the_dead(catches_up)].map(|sum| 7 + sum);
        assert_eq!(closed, [Some((first, sums[0])), Some((second, sums[1])), Some((third, sums[2]))]);
    }
}
