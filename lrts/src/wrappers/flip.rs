//! Flip: one bit of a frame that changes on the way, as a [`FaultPlan`] says. For a backend that finds such frames out, to
//! do after it has computed their tags.

use super::FaultPlan;
use crate::ids::NodeId;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU32;

/// The chance of the frames of one connection.
pub(crate) struct Flip {
    one_of: NonZeroU32,
    chance: ChaCha8Rng,
}

impl Flip {
    /// The flips of a plan on the way from a node to another; `None` if it asks for none.
    pub(crate) fn of(plan: &FaultPlan, [from, to]: [NodeId; 2]) -> Option<Self> {
        // Connections that drew alike would fail alike.
        let seed = plan.seed.rotate_left(32) ^ u64::from(from.0) ^ u64::from(to.0).rotate_left(16);
        Some(Self { one_of: plan.flip?, chance: ChaCha8Rng::seed_from_u64(seed) })
    }

    /// The bytes of a frame's parts with one bit changed, if this frame is struck.
    pub(crate) fn strike(&mut self, parts: [&[u8]; 2]) -> Option<Vec<u8>> {
        if !self.chance.random_ratio(1, self.one_of.get()) {
            return None;
        }
        let mut bytes = parts.concat();
        let bit = self.chance.random_range(0..8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        Some(bytes)
    }
}
