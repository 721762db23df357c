//! Shape of a simulated job, and its draws: how large it is, what is left to its seed, and what is watched and kept; and what the seed decides
//! about it before it is made.
//!
//! 1. Each part of chance is in half of the jobs only: what one hides another one shows.
//! 2. Of half of the jobs a node is lost, if that is asked for.
//! 3. Half of the jobs are faultless from a moment on: then nothing pauses, and nothing is refused that has room. They have to end like all.

use crate::model::ids::NodeId;
use crate::pe::costs::Costs;
use chare_device::DeviceSpeeds;
use chare_lrts::Common;
use chare_lrts::simulated::{Chance, Chances, Fidelity, Network};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU32;

/// How large a simulated job is, what is left to its seed, and what is watched and kept.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) nodes: u32,
    /// Of each node.
    pub(super) pes: u32,
    pub(super) hosts: u32,
    /// Threads that drive the nodes, if there are as many nodes.
    pub(super) threads: u32,
    pub(super) seed: u64,
    pub(super) fidelity: Fidelity,
    /// The model of the network, if the seed does not decide how long frames are on their way.
    pub(super) network: Option<Network>,
    /// What entries cost, if they do.
    pub(super) costs: Option<Costs>,
    pub(super) device_speeds: DeviceSpeeds,
    /// Whether events are kept.
    pub(super) is_recorded: bool,
    /// Whether the oracles watch, and nodes are looked at when `main` is over.
    pub(super) is_audited: bool,
    /// What the seed decides.
    pub(super) chances: Chances,
}

/// What a node may keep because of others, whatever the machine has, unless that is little.
const KEPT_BYTES_MAX: u64 = 1 << 32;

/// The stream of the seed's dice by which a job is made.
const STREAM: u64 = u64::MAX - 4;

/// What the seed decides about a job before it is made.
pub(super) struct Drawn {
    /// From when on the job is faultless, in nanoseconds.
    pub(super) calm_from: u64,
    knobs: Option<u64>,
    refuses_one_in: Option<u64>,
    pub(super) shuffle: Option<u64>,
    pub(super) mailbox: Option<NonZeroU32>,
    /// Bytes that each node may keep because of others.
    pub(super) kept_bytes_max: u64,
    /// When which node is lost, if one is.
    pub(super) loss: Option<(u64, NodeId)>,
}

impl Drawn {
    pub(super) fn draw(shape: &Shape) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(shape.seed);
        dice.set_stream(STREAM);
        // All is drawn, so that what is switched off does not shift what is left.
        let calm_from = 10_u64.pow(dice.random_range(4..8));
        let calm_from = if dice.random_ratio(1, 2) { calm_from } else { u64::MAX };
        let mut drawn = |part, number: u64| {
            let is_drawn = dice.random_ratio(1, 2);
            (is_drawn && shape.chances.has(part)).then_some(number)
        };
        let (knobs, shuffle) = (drawn(Chance::Knobs, shape.seed), drawn(Chance::Order, shape.seed));
        let refuses_one_in = drawn(Chance::Refusals, 1 + shape.seed % 5);
        let mailbox = drawn(Chance::Order, 1 + shape.seed % 7).and_then(|long| NonZeroU32::new(long as u32));
        let is_lost = drawn(Chance::Losses, 1).is_some() && shape.nodes > 1;
        let within = 10_u64.pow(dice.random_range(4..8));
        let loss = (dice.random_range(0..within), NodeId(dice.random_range(0..shape.nodes)));
        let loss = is_lost.then_some(loss);
        let little = 1 << dice.random_range(10..20);
        let has_little = dice.random_ratio(1, 2) && shape.chances.has(Chance::Memory);
        let kept_bytes_max = if has_little { little } else { KEPT_BYTES_MAX };
        Self { calm_from, knobs, refuses_one_in, shuffle, mailbox, kept_bytes_max, loss }
    }

    /// What this gives all nodes.
    pub(super) fn common(&self) -> Common {
        Common::new(self.knobs, self.refuses_one_in, self.calm_from)
    }
}
