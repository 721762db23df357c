//! Programs whose elements come and go beside calls of all, and the results that each may have, as bits of the members that contributed.

use super::{Act, Program, check};
use crate::model::topology::Topology;

/// A birth beside a call, where nobody was, in jobs of these shapes.
fn check_birth_beside_call(shapes: &[(u32, u32)]) {
    for (nodes, pes) in shapes {
        let topology = Topology::on_one_host(*nodes, *pes);
        let last = topology.pes() - 1;
        let first_phase = [Act::Call(1), Act::Insert { member: 1, pe: last }];
        check(
            &Program { topology, initial: &[(0, 0)], phases: &[&first_phase, &[Act::Call(1)]] },
            &[&[0b01, 0b11], &[0b11, 0b11]],
        );
    }
}

#[test]
fn who_is_born_beside_a_call_takes_part_if_it_hears_the_call() {
    check_birth_beside_call(&[(1, 2), (2, 1), (1, 3)]);
}

#[test]
#[ignore = "5.4 million states take more than a minute"]
fn who_is_born_beside_a_call_takes_part_if_it_hears_the_call_in_larger_jobs() {
    check_birth_beside_call(&[(3, 1), (2, 2)]);
}

#[test]
fn who_is_born_beside_a_call_that_begins_two_reductions_takes_part_in_both_or_none() {
    let program = Program {
        topology: Topology::on_one_host(1, 2),
        initial: &[(0, 0)],
        phases: &[&[Act::Call(2), Act::Insert { member: 1, pe: 1 }], &[Act::CallEach]],
    };
    check(&program, &[&[0b01, 0b01, 0b11], &[0b11, 0b11, 0b11]]);
}

#[test]
fn who_is_born_where_members_are_or_were_takes_part_if_it_hears_the_call() {
    let beside = Program {
        topology: Topology::on_one_host(2, 1),
        initial: &[(0, 0), (1, 1)],
        phases: &[&[Act::Call(1), Act::Insert { member: 2, pe: 1 }], &[Act::Call(1)]],
    };
    check(&beside, &[&[0b011, 0b111], &[0b111, 0b111]]);
    let after = Program {
        topology: Topology::on_one_host(1, 2),
        initial: &[(0, 0), (1, 1)],
        phases: &[
            &[Act::Destroy { member: 1, pe: 1 }, Act::Call(1), Act::Insert { member: 2, pe: 1 }],
            &[Act::Call(1)],
        ],
    };
    check(&after, &[&[0b001, 0b101], &[0b011, 0b101], &[0b101, 0b101], &[0b111, 0b101]]);
}

#[test]
fn who_is_born_while_others_have_heard_a_call_and_not_contributed_is_not_awaited() {
    let elsewhere = Program {
        topology: Topology::on_one_host(2, 1),
        initial: &[(0, 0)],
        phases: &[&[Act::CallInTwoSteps, Act::Insert { member: 1, pe: 1 }], &[Act::CallInTwoSteps]],
    };
    check(&elsewhere, &[&[0b01, 0b11], &[0b11, 0b11]]);
    let beside = Program {
        topology: Topology::on_one_host(1, 2),
        initial: &[(0, 0), (1, 1)],
        phases: &[&[Act::CallInTwoSteps, Act::Insert { member: 2, pe: 1 }], &[Act::CallEach]],
    };
    check(&beside, &[&[0b011, 0b111], &[0b111, 0b111]]);
}

#[test]
fn who_is_born_and_dies_beside_a_call_holds_nobody_up() {
    let program = Program {
        topology: Topology::on_one_host(2, 1),
        initial: &[(0, 0)],
        phases: &[
            &[Act::Call(1), Act::Insert { member: 1, pe: 1 }, Act::Destroy { member: 1, pe: 1 }],
            &[Act::CallEach],
        ],
    };
    check(&program, &[&[0b01, 0b01], &[0b11, 0b01]]);
}

#[test]
fn two_who_are_born_beside_a_call_each_take_part_if_they_hear_it() {
    let program = Program {
        topology: Topology::on_one_host(1, 2),
        initial: &[(0, 0)],
        phases: &[
            &[Act::Call(1), Act::Insert { member: 1, pe: 1 }, Act::Insert { member: 2, pe: 1 }],
            &[Act::Call(1)],
        ],
    };
    check(&program, &[&[0b001, 0b111], &[0b011, 0b111], &[0b101, 0b111], &[0b111, 0b111]]);
}
