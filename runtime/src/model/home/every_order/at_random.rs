//! Longer programs in orders that a seed decides.

use super::super::rules::Rule;
use super::message::Act;
use super::world::{Shape, World};
use super::{Dice, SENDS_MAX};

/// What happens how often.
#[derive(Clone, Copy)]
struct Mixture {
    shape: Shape,
    indices: u64,
    acts: usize,
    /// Of twenty acts: moves, ends, ends with a successor, insertions, broadcasts, contributions; the others are calls.
    weights: [usize; 6],
}

impl Mixture {
    fn act(&self, world: &mut World, dice: &mut Dice, fresh: u64) {
        let (pes, index) = (self.shape.pes, dice.roll(self.indices as usize) as u64);
        let (at, to) = (dice.roll(pes), dice.roll(pes));
        let mut kind = dice.roll(20);
        let which = self.weights.iter().position(|weight| {
            let is_it = kind < *weight;
            kind = kind.wrapping_sub(*weight);
            is_it
        });
        match which {
            Some(0) => {
                let refusals = (dice.roll(4) == 0).into();
                world.call_element(at, index, Act::Move { to, refusals });
            }
            Some(1) => world.call_element(at, index, Act::End),
            Some(2) => world.call_element(at, index, Act::Succeed { on: to, id: fresh }),
            Some(3) => world.insert_element(index, fresh, to),
            Some(4) => world.broadcast(fresh * 100),
            Some(_) => world.call_element(at, index, Act::Contribute(fresh * 100)),
            None => world.call_element(at, index, Act::Nothing),
        }
    }

    /// Runs it in the order of a seed.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn run(&self, seed: u64) -> Result<World, String> {
        let (mut world, mut dice) = (World::new(self.shape), Dice(seed));
        let (mut acts, mut steps) = (0, 0);
        // Some seeds let many things happen at once, others few.
        let patience = 1 + dice.roll(12);
        while acts < self.acts || !world.messages.is_empty() {
            if acts < self.acts && (world.messages.is_empty() || dice.roll(patience) == 0) {
                acts += 1;
                self.act(&mut world, &mut dice, 1000 + acts as u64);
            } else {
                let position = dice.roll(world.messages.len());
                world.process(position);
            }
            steps += 1;
            if steps > 100 * self.acts {
                world.truth.fail("it runs for ever".to_owned());
            }
            if world.truth.fault.is_some() {
                break;
            }
        }
        if world.truth.fault.is_none() {
            world.finish();
        }
        match world.truth.fault.take() {
            Some(fault) => Err(format!("{fault}, with seed {seed}")),
            None => Ok(world),
        }
    }
}

const SHAPE: Shape = Shape { pes: 4, homes: 2, arrays: 1, elements: 3, contributions: 1, without: None };

/// Something of everything.
const USUAL: Mixture = Mixture { shape: SHAPE, indices: 4, acts: 40, weights: [8, 1, 1, 2, 3, 0] };

/// Few indices, with one successor after the other.
const BIRTHS: Mixture = Mixture {
    shape: Shape { pes: 3, elements: 2, ..SHAPE },
    indices: 2,
    weights: [6, 3, 3, 4, 3, 0],
    ..USUAL
};

/// Elements that hardly rest.
const MOVES: Mixture = Mixture {
    shape: Shape { contributions: 2, homes: 1, ..SHAPE },
    indices: 3,
    weights: [13, 0, 0, 0, 3, 0],
    ..USUAL
};

/// One element that contributes whenever it likes.
const ALONE: Mixture = Mixture {
    shape: Shape { elements: 1, homes: 1, ..SHAPE },
    indices: 1,
    weights: [8, 0, 2, 0, 2, 6],
    ..USUAL
};

/// Bonds of two: the second array begins with fewer elements.
const BONDS: Mixture = Mixture { shape: Shape { arrays: 2, ..SHAPE }, weights: [9, 2, 2, 4, 1, 0], ..USUAL };

fn check(mixture: Mixture, seeds: u64) {
    let (mut moves, mut sends_max) = (0, 0);
    for seed in 0..seeds {
        let world = mixture.run(seed).unwrap_or_else(|fault| panic!("{fault}"));
        moves += world.truth.moves;
        sends_max = sends_max.max(world.truth.sends_max);
    }
    assert_eq!(sends_max, SENDS_MAX, "in {moves} moves");
}

#[test]
fn elements_that_move_end_and_are_inserted_are_found() {
    check(USUAL, 2000);
    check(BIRTHS, 2000);
}

#[test]
fn elements_that_are_bound_to_each_other_move_together() {
    check(BONDS, 4000);
}

#[test]
fn elements_that_hardly_rest_are_found_and_contribute_in_order() {
    check(MOVES, 2000);
    check(ALONE, 2000);
}

#[test]
#[ignore = "eighty thousand seeds take a minute or two"]
fn elements_are_found_with_many_seeds() {
    [USUAL, BIRTHS, MOVES, ALONE, BONDS].into_iter().for_each(|mixture| check(mixture, 20_000));
}

#[test]
fn what_goes_wrong_without_a_rule_is_seen_by_some_seed() {
    for (rule, mixture) in [
        (Rule::OneThingUnderWay, USUAL),
        (Rule::Pins, MOVES),
        (Rule::ProofOfEnd, BIRTHS),
        (Rule::JourneyOfCopies, BIRTHS),
        (Rule::CopiesOfJourney, USUAL),
        (Rule::LaggingFirst, ALONE),
        (Rule::CountAtEnd, BIRTHS),
        (Rule::EndIsArrival, BIRTHS),
        (Rule::BirthHoldsBond, BONDS),
        (Rule::JointGrants, BONDS),
        (Rule::BornBesideBond, BONDS),
    ] {
        let mixture = Mixture { shape: Shape { without: Some(rule), ..mixture.shape }, ..mixture };
        let faults = (0..200).filter(|seed| mixture.run(*seed).is_err()).count();
        assert!(faults > 0, "nothing goes wrong without {rule:?}");
    }
}
