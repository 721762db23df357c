//! Every order of messages around elements that move: calls from PEs that take others for their homes, moves, refusals, ends, insertions,
//! broadcasts and contributions, over a network without any order. In each order every call comes to its element once and after few sends,
//! everybody hears the broadcasts of its life, contributions are taken once and in order, and nothing is kept for ever.
//!
//! Two orders in which every PE sees its messages in the same sequence are one order, and only one of them is run. Longer programs run in
//! orders that a seed decides. Each rule of [`super`] that can be left out is left out, to see that something goes wrong then.

mod at_random;
mod counted;
mod message;
mod programs;
mod truth;
mod world;

use rustc_hash::FxHashSet;
use std::hash::{Hash, Hasher};
use world::{Shape, World};

/// How often a call is sent at most in search of one element.
const SENDS_MAX: u32 = 5;

/// Numbers that a seed decides (SplitMix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((number ^ (number >> 31)) % below as u64) as usize
    }
}

/// What `main` does at once.
type Phase = fn(&mut World);

/// Two phases; the second begins when nothing is under way any more.
struct Program {
    shape: Shape,
    /// Run in one order.
    before: Option<Phase>,
    /// Run in every order.
    last: Phase,
}

/// How much was explored.
#[derive(Default)]
struct Explored {
    /// Orders of the messages of each PE, also those that are not over.
    states: usize,
    sends_max: u32,
}

impl Program {
    fn begin(&self) -> World {
        let mut world = World::new(self.shape);
        if let Some(before) = self.before {
            before(&mut world);
        }
        while !world.messages.is_empty() {
            world.process(0);
        }
        (self.last)(&mut world);
        world
    }

    /// Runs the program in every order.
    ///
    /// # Errors
    /// What went wrong in the first order in which something did, in words.
    fn explore(&self) -> Result<Explored, String> {
        let (mut explored, mut seen) = (Explored::default(), FxHashSet::default());
        let mut orders = vec![Vec::<usize>::new()];
        while let Some(order) = orders.pop() {
            let mut world = self.begin();
            order.iter().for_each(|position| world.process(*position));
            let mut hasher = rustc_hash::FxHasher::default();
            world.seen.hash(&mut hasher);
            if !seen.insert(hasher.finish()) {
                continue;
            }
            if world.messages.is_empty() {
                world.finish();
            }
            if let Some(fault) = world.truth.fault {
                return Err(format!("{fault}, in order {order:?}"));
            }
            explored.sends_max = explored.sends_max.max(world.truth.sends_max);
            let next =
                (0..world.messages.len()).map(|position| order.iter().copied().chain([position]).collect());
            orders.extend::<Vec<Vec<usize>>>(next.collect());
        }
        explored.states = seen.len();
        Ok(explored)
    }
}
