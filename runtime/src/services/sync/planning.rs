//! Planning of moves on PE 0: what all PEs have is gathered, and the balancer plans who is to move where.

use super::message::{MeasuredHere, Member, Round, SyncMessage};
use super::state::{send, state, tell_all};
use super::units::Unit;
use crate::model::ids::PeId;
use crate::model::loads::{Measured, Object};
use crate::pe::Pe;
use crate::services::balance::Strategies;
use rustc_hash::FxHashMap;

/// Begins a balancing when the one that is under way is over.
pub(super) fn begin(pe: &Pe, round: Round) {
    let begins = state(pe).borrow_mut().gathered.add(round);
    if begins {
        tell_all(pe, &SyncMessage::Measure { round });
    }
}

/// Takes what a PE has; when all have said it, plans the moves and tells all PEs that the balancing is over.
pub(super) fn take(pe: &Pe, round: Round, from: PeId, measured: MeasuredHere) {
    let pes = pe.node.topology.pes();
    let all = state(pe).borrow_mut().gathered.take((round, from), measured, pes);
    let Some((number, all)) = all else { return };
    let mut moves = match plan(pe, number, all) {
        Ok(moves) => moves,
        Err(cause) => return pe.fail(format!("balancing {number}"), cause),
    };
    for to in (0..pes).map(PeId) {
        send(pe, to, SyncMessage::Over { round, moves: moves.remove(&to).unwrap_or_default() });
    }
    let next = state(pe).borrow_mut().gathered.end();
    if let Some(every) = pe.node.balance_every {
        state(pe).borrow_mut().gathered.start_clock(every);
    }
    next.inspect(|round| tell_all(pe, &SyncMessage::Measure { round: *round }));
}

/// Plans the moves, by the PEs on which the elements live.
fn plan(
    pe: &Pe,
    number: u64,
    all: Vec<(PeId, MeasuredHere)>,
) -> Result<FxHashMap<PeId, Vec<(Member, PeId)>>, String> {
    let topology = &pe.node.topology;
    let name = pe.node.balancer.as_deref().unwrap_or_default();
    let strategies = Strategies::named(name).map_err(|error| error.to_string())?;
    let mut measured = Measured::new(topology.nodes(), topology.pes_per_node());
    let mut members = Vec::new();
    let unit = Unit::of(all.iter().map(|(_, here)| here));
    for (at, MeasuredHere { fixed, elements }) in all {
        let fixed_here = measured.fixed.get_mut(at.0 as usize);
        *fixed_here.ok_or_else(|| format!("{at} does not exist"))? = unit.fixed(fixed);
        for element in elements {
            let array = element.member.0.serial;
            let object = Object::new(at, unit.load(&element));
            measured.objects.push(Object {
                bytes: element.bytes,
                may_move: element.may_move,
                position: element.position,
                array,
                ..object
            });
            members.push(element.member);
        }
    }
    let (loads, numbers) = measured.build_numbered().map_err(|error| error.to_string())?;
    let mut places: Vec<usize> = vec![0; members.len()];
    numbers.iter().enumerate().for_each(|(place, number)| places[*number] = place);
    let mut moves: FxHashMap<PeId, Vec<(Member, PeId)>> = FxHashMap::default();
    for (number, to) in strategies.turn(number).plan(&loads).planned() {
        moves.entry(loads.objects()[number].at).or_default().push((members[places[number]], to));
    }
    Ok(moves)
}
