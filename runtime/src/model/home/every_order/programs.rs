//! Small programs that are run in every order, each also without the rule that it is there for.

use super::super::rules::Rule;
use super::message::Act;
use super::world::{Shape, World};
use super::{Phase, Program};

const fn shape(pes: usize, elements: u64) -> Shape {
    Shape { pes, homes: 1, arrays: 1, elements, contributions: 1, without: None }
}

/// One element that has gone to PE 1, of three; its home is PE 0.
const fn from_pe_1(last: Phase) -> Program {
    Program { shape: shape(3, 1), before: Some(|world| move_to(world, 1)), last }
}

/// Has the first element wish to move.
fn move_to(world: &mut World, to: usize) {
    world.call_element(0, 0, Act::Move { to, refusals: 0 });
}

/// Runs a program in every order; returns how often a call is sent at most.
fn check(program: &Program) -> u32 {
    let explored = program.explore().unwrap_or_else(|fault| panic!("{fault}"));
    assert!(explored.states > 100, "there are many orders");
    explored.sends_max
}

/// Runs a program in every order, and expects that something goes wrong without a rule.
fn check_worth(program: &Program, rule: Rule) {
    let shape = Shape { without: Some(rule), ..program.shape };
    assert!(Program { shape, ..*program }.explore().is_err(), "nothing goes wrong without {rule:?}");
}

#[test]
fn two_calls_come_to_an_element_that_moves() {
    let program = Program {
        shape: shape(2, 1),
        before: None,
        last: |world| {
            move_to(world, 1);
            world.call_element(0, 0, Act::Nothing);
            world.call_element(1, 0, Act::Nothing);
        },
    };
    assert_eq!(check(&program), 3);
}

#[test]
fn a_call_of_a_stale_caller_finds_an_element_that_moves_on_and_on() {
    let program = from_pe_1(|world| {
        move_to(world, 2);
        move_to(world, 1);
        world.call_element(2, 0, Act::Nothing);
    });
    assert_eq!(check(&program), 5);
    check_worth(&program, Rule::Pins);
}

#[test]
fn an_element_that_is_not_free_stays_and_goes_later_unless_it_ends() {
    let program = from_pe_1(|world| {
        world.call_element(0, 0, Act::Move { to: 2, refusals: 1 });
        world.call_element(1, 0, Act::Nothing);
        world.call_element(1, 0, Act::End);
    });
    check(&program);
    check_worth(&program, Rule::OneThingUnderWay);
    check_worth(&program, Rule::ProofOfEnd);
}

#[test]
fn a_broadcast_beside_a_move_an_end_and_an_insertion_is_not_for_the_successor() {
    let program = from_pe_1(|world| {
        move_to(world, 2);
        world.call_element(1, 0, Act::Succeed { on: 2, id: 1 });
        world.broadcast(100);
    });
    check(&program);
    check_worth(&program, Rule::JourneyOfCopies);
}

#[test]
fn a_broadcast_is_heard_by_who_comes_home_and_leaves_again() {
    let program = from_pe_1(|world| {
        move_to(world, 0);
        move_to(world, 2);
        world.broadcast(100);
    });
    check(&program);
    check_worth(&program, Rule::CopiesOfJourney);
}

#[test]
fn who_is_inserted_elsewhere_is_called_and_moves() {
    let program = Program {
        shape: shape(3, 0),
        before: None,
        last: |world| {
            world.insert_element(0, 0, 1);
            move_to(world, 2);
            world.call_element(1, 0, Act::Nothing);
        },
    };
    check(&program);
}

#[test]
fn who_is_inserted_elsewhere_moves_and_ends_before_anybody_hears_of_it() {
    let program = Program {
        shape: shape(3, 0),
        before: None,
        last: |world| {
            world.insert_element(0, 0, 1);
            move_to(world, 2);
            world.call_element(1, 0, Act::Succeed { on: 1, id: 1 });
        },
    };
    check(&program);
    check_worth(&program, Rule::EndIsArrival);
}

#[test]
fn reductions_take_what_an_element_contributed_before_it_came_home_and_ended() {
    let program = Program {
        shape: Shape { contributions: 2, ..shape(2, 2) },
        before: Some(|world| move_to(world, 1)),
        last: |world| {
            move_to(world, 0);
            world.broadcast(100);
            world.call_element(0, 0, Act::End);
        },
    };
    check(&program);
    check_worth(&program, Rule::CountAtEnd);
}

#[test]
fn reductions_take_what_an_element_contributed_on_two_other_pes() {
    let program = Program {
        shape: shape(3, 2),
        before: Some(|world| move_to(world, 1)),
        last: |world| {
            move_to(world, 2);
            world.broadcast(100);
            world.call_element(1, 0, Act::End);
        },
    };
    check(&program);
}

#[test]
fn contributions_of_who_has_come_home_wait_behind_those_that_lag() {
    let program = Program {
        shape: shape(2, 1),
        before: Some(|world| move_to(world, 1)),
        last: |world| {
            world.call_element(1, 0, Act::Contribute(7));
            move_to(world, 0);
            world.broadcast(100);
        },
    };
    check(&program);
    check_worth(&program, Rule::LaggingFirst);
}

#[test]
fn a_newborn_moves_before_its_first_contribution() {
    let program = Program {
        shape: shape(3, 1),
        before: Some(|world| world.broadcast(50)),
        last: |world| {
            world.insert_element(1, 1, 1);
            world.call_element(0, 1, Act::Move { to: 2, refusals: 0 });
            world.broadcast(100);
        },
    };
    check(&program);
}

/// A bond of two elements that has gone to PE 1, of three; its home is PE 0.
const fn bond_from_pe_1(last: Phase) -> Program {
    let shape = Shape { arrays: 2, contributions: 0, ..shape(3, 2) };
    Program { shape, before: Some(|world| move_to(world, 1)), last }
}

#[test]
fn a_bond_moves_while_one_of_it_ends_that_is_called() {
    let program = bond_from_pe_1(|world| {
        move_to(world, 2);
        world.call_element(1, 1, Act::End);
        world.call_element(0, 1, Act::Nothing);
    });
    check(&program);
    check_worth(&program, Rule::JointGrants);
    check_worth(&program, Rule::EndIsArrival);
}

#[test]
fn a_bond_moves_on_and_on_whoever_of_it_wishes() {
    let program = bond_from_pe_1(|world| {
        move_to(world, 2);
        world.call_element(1, 1, Act::Move { to: 0, refusals: 0 });
    });
    check(&program);
    check_worth(&program, Rule::JointGrants);
}

#[test]
fn who_is_born_into_a_bond_that_moves_is_born_beside_it() {
    let shape = Shape { arrays: 2, ..shape(3, 1) };
    let program = Program {
        shape,
        before: Some(|world| move_to(world, 1)),
        last: |world| {
            world.insert_element(1, 1, 2);
            move_to(world, 2);
        },
    };
    assert!(program.explore().is_ok_and(|explored| explored.states > 20));
    check_worth(&program, Rule::BirthHoldsBond);
    check_worth(&program, Rule::BornBesideBond);
}

#[test]
fn who_succeeds_one_that_ended_before_its_bond_left_is_born_beside_the_others() {
    let program = bond_from_pe_1(|world| {
        move_to(world, 2);
        world.call_element(1, 1, Act::Succeed { on: 0, id: 2 });
    });
    check(&program);
    check_worth(&program, Rule::BornBesideBond);
}
