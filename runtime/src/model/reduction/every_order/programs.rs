//! Programs of several clients, and programs whose elements come and go beside calls of all, and the results that each may have, as bits
//! of the members that contributed.

use super::{Act, Program, check};
use crate::model::topology::Topology;

/// Calls that nobody awaits before the next, in an array that cannot grow, with members on all PEs but the last.
fn check_clients(topology: Topology, acts: &[Act]) {
    let initial: Vec<(u64, u32)> =
        (0..u64::from(topology.pes() - 1).max(2)).map(|member| (member, member as u32)).collect();
    let all = (1 << initial.len()) - 1;
    let results = vec![all; acts.len()];
    check(&Program { topology, grows: false, initial: &initial, phases: &[acts] }, &[&results]);
}

#[test]
fn clients_that_do_not_wait_for_each_other_get_their_own_results() {
    for (nodes, pes) in [(1, 2), (2, 1)] {
        let topology = || Topology::on_one_host(nodes, pes);
        check_clients(topology(), &[Act::Call(1), Act::Call(1)]);
        check_clients(topology(), &[Act::Call(1), Act::CallInTwoSteps]);
    }
}

#[test]
#[ignore = "millions of states take more than a minute"]
fn many_clients_in_larger_jobs_get_their_own_results() {
    check_clients(Topology::on_one_host(1, 3), &[Act::Call(1), Act::CallInTwoSteps]);
    check_clients(Topology::on_one_host(1, 2), &[Act::Call(1), Act::CallInTwoSteps, Act::Call(1)]);
}

#[test]
fn clients_of_members_that_share_a_pe_get_their_own_results() {
    let program = Program {
        topology: Topology::on_one_host(1, 2),
        grows: false,
        initial: &[(0, 0), (1, 0), (2, 1)],
        phases: &[&[Act::CallInTwoSteps, Act::CallInTwoSteps]],
    };
    check(&program, &[&[0b111, 0b111]]);
}

#[test]
fn clients_get_their_results_while_a_pe_loses_its_last_member() {
    let program = Program {
        topology: Topology::on_one_host(2, 1),
        grows: false,
        initial: &[(0, 0), (1, 1)],
        phases: &[&[Act::Call(1), Act::Call(1), Act::Destroy { member: 1, pe: 1 }], &[Act::Call(1)]],
    };
    check(&program, &[&[0b01, 0b01, 0b01], &[0b11, 0b01, 0b01], &[0b01, 0b11, 0b01], &[0b11, 0b11, 0b01]]);
}

/// A birth beside the calls of two clients.
fn check_birth_beside_clients(nodes: u32, pes: u32) {
    let program = Program {
        topology: Topology::on_one_host(nodes, pes),
        grows: true,
        initial: &[(0, 0)],
        phases: &[&[Act::Call(1), Act::Call(1), Act::Insert { member: 1, pe: nodes * pes - 1 }]],
    };
    check(&program, &[&[0b01, 0b01], &[0b11, 0b01], &[0b01, 0b11], &[0b11, 0b11]]);
}

#[test]
fn who_is_born_beside_calls_of_two_clients_takes_part_in_those_it_hears() {
    check_birth_beside_clients(1, 1);
}

#[test]
#[ignore = "millions of states take more than a minute"]
fn who_is_born_beside_calls_of_two_clients_takes_part_in_those_it_hears_in_larger_jobs() {
    check_birth_beside_clients(1, 2);
    check_birth_beside_clients(2, 1);
}

#[test]
fn who_is_born_late_is_not_awaited_in_what_an_earlier_call_begins_later() {
    let program = Program {
        topology: Topology::on_one_host(1, 1),
        grows: true,
        initial: &[(0, 0)],
        phases: &[&[Act::CallInTwoSteps, Act::Insert { member: 1, pe: 0 }, Act::Call(1)]],
    };
    check(&program, &[&[0b01, 0b01], &[0b01, 0b11], &[0b11, 0b01], &[0b11, 0b11]]);
}

/// A birth beside a call, where nobody was, in jobs of these shapes.
fn check_birth_beside_call(shapes: &[(u32, u32)]) {
    for (nodes, pes) in shapes {
        let topology = Topology::on_one_host(*nodes, *pes);
        let last = topology.pes() - 1;
        let first_phase = [Act::Call(1), Act::Insert { member: 1, pe: last }];
        check(
            &Program { topology, grows: true, initial: &[(0, 0)], phases: &[&first_phase, &[Act::Call(1)]] },
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
        grows: true,
        initial: &[(0, 0)],
        phases: &[&[Act::Call(2), Act::Insert { member: 1, pe: 1 }], &[Act::CallEach]],
    };
    check(&program, &[&[0b01, 0b01, 0b11], &[0b11, 0b11, 0b11]]);
}

#[test]
fn who_is_born_where_members_are_or_were_takes_part_if_it_hears_the_call() {
    let beside = Program {
        topology: Topology::on_one_host(2, 1),
        grows: true,
        initial: &[(0, 0), (1, 1)],
        phases: &[&[Act::Call(1), Act::Insert { member: 2, pe: 1 }], &[Act::Call(1)]],
    };
    check(&beside, &[&[0b011, 0b111], &[0b111, 0b111]]);
    let after = Program {
        topology: Topology::on_one_host(1, 2),
        grows: true,
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
        grows: true,
        initial: &[(0, 0)],
        phases: &[&[Act::CallInTwoSteps, Act::Insert { member: 1, pe: 1 }], &[Act::CallInTwoSteps]],
    };
    check(&elsewhere, &[&[0b01, 0b11], &[0b11, 0b11]]);
    let beside = Program {
        topology: Topology::on_one_host(1, 2),
        grows: true,
        initial: &[(0, 0), (1, 1)],
        phases: &[&[Act::CallInTwoSteps, Act::Insert { member: 2, pe: 1 }], &[Act::CallEach]],
    };
    check(&beside, &[&[0b011, 0b111], &[0b111, 0b111]]);
}

#[test]
fn who_is_born_and_dies_beside_a_call_holds_nobody_up() {
    let program = Program {
        topology: Topology::on_one_host(2, 1),
        grows: true,
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
        grows: true,
        initial: &[(0, 0)],
        phases: &[
            &[Act::Call(1), Act::Insert { member: 1, pe: 1 }, Act::Insert { member: 2, pe: 1 }],
            &[Act::Call(1)],
        ],
    };
    check(&program, &[&[0b001, 0b111], &[0b011, 0b111], &[0b101, 0b111], &[0b111, 0b111]]);
}

#[test]
fn who_goes_while_calls_are_under_way_leaves_nothing_to_be_said_after_the_end() {
    let acts = [Act::Call(1), Act::Destroy { member: 0, pe: 0 }, Act::Destroy { member: 1, pe: 1 }];
    let [call, one, other] = acts;
    for (nodes, pes) in [(2, 1), (1, 2)] {
        for grows in [false, true] {
            let ends = [call, one, other, Act::EndBirths];
            let phases = if grows { &ends[..] } else { &ends[..3] };
            let topology = Topology::on_one_host(nodes, pes);
            let program = Program { topology, grows, initial: &[(0, 0), (1, 1)], phases: &[phases] };
            check(&program, &[&[], &[0b01], &[0b10], &[0b11]]);
        }
    }
}
