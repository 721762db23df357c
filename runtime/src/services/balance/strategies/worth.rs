//! Worth of a plan: whether what it gains is worth that anything moves.

use super::graph::weight;
use crate::model::ids::PeId;
use crate::model::loads::{Edge, Loads, Moves};

/// By how much the longest PE is to become shorter if everything is spread anew.
const GAIN_MIN: f64 = 0.01;

/// What rounding may hide.
const ROUNDING: f64 = 1e-9;

/// What a call to another PE of the node costs, beside one to another node (`benches/README.md`: 199 ns and 333 ns, without what is copied).
const WITHIN_NODE: f64 = 0.25;

/// What a plan is for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Worth {
    /// Moves themselves.
    Moves,
    /// A shorter longest PE, after moves of what is too much and of nothing else.
    Shorter,
    /// A shorter longest PE, after everything was spread anew.
    MuchShorter,
    /// A shorter longest PE if one takes longer than `tolerance` times the average; or calls between PEs that are fewer by this part, as long as
    /// none then does.
    Calls { tolerance: f64, gain_min: f64 },
}

impl Worth {
    /// Whether the plan is worth its moves.
    pub(super) fn is_reached(self, loads: &Loads, moves: &Moves) -> bool {
        let (before, after) = (loads.max(), moves.max());
        match self {
            Self::Moves => true,
            Self::Shorter => after < before * (1.0 - ROUNDING),
            Self::MuchShorter => after < before * (1.0 - GAIN_MIN),
            Self::Calls { tolerance, gain_min } => {
                let enough = tolerance * loads.average() * (1.0 + ROUNDING);
                let is_quieter = || {
                    between(loads, |object| moves.place_of(object))
                        < between(loads, |object| loads.objects()[object].at) * (1.0 - gain_min)
                };
                before > enough && after < before * (1.0 - GAIN_MIN)
                    || after <= enough.max(before) && is_quieter()
            }
        }
    }
}

/// The bytes and calls between PEs, where `place` says where objects are.
fn between(loads: &Loads, place: impl Fn(usize) -> PeId) -> f64 {
    let cost = |edge: &Edge| {
        let [from, to] = [edge.from, edge.to].map(&place);
        let share = match (from == to, loads.node_of(from) == loads.node_of(to)) {
            (true, _) => 0.0,
            (_, true) => WITHIN_NODE,
            _ => 1.0,
        };
        share * weight(edge)
    };
    loads.edges().iter().map(cost).sum()
}
