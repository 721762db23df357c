//! Planning of moves on PE 0: what all PEs have is gathered, and the balancer plans who is to move where, if it is its turn.

use super::gathered::All;
use super::message::{MeasuredCalls, MeasuredHere, Member, Round, SyncMessage};
use super::state::{send, state, tell_all};
use super::turns::Taken;
use super::units::Unit;
use crate::model::ids::PeId;
use crate::model::loads::{BalanceRecord, Edge, Loads, Measured, Moves, Object};
use crate::node::balancing::{BalanceWhen, BalancingFigures};
use crate::pe::Pe;
use crate::services::balance::Strategies;
use chare_lrts::{clock, events};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Moves by the PEs on which the elements live.
type MovesByPe = FxHashMap<PeId, Vec<(Member, PeId)>>;

/// Begins a balancing when the one that is under way is over.
pub(super) fn begin(pe: &Pe, round: Round) {
    let begins = state(pe).borrow_mut().gathered.add(round);
    if begins {
        carry_on(pe, Some(round));
    }
}

/// Begins the balancing that is next, if there is one; those in which the balancer rests are over at once.
fn carry_on(pe: &Pe, mut next: Option<Round>) {
    while let Some(round) = next {
        let is_awake = !may_rest(pe, round) || state(pe).borrow_mut().gathered.turns.come();
        if is_awake {
            state(pe).borrow_mut().gathered.ask();
            return tell_all(pe, &SyncMessage::Measure { round });
        }
        next = end(pe, round, MovesByPe::default());
    }
}

/// Whether the balancer decides by itself if this is its turn.
fn may_rest(pe: &Pe, round: Round) -> bool {
    pe.node.balancing.when == BalanceWhen::Auto && round != Round::Asked
}

/// Tells all PEs that a balancing is over; returns the next one.
fn end(pe: &Pe, round: Round, mut moves: MovesByPe) -> Option<Round> {
    for to in (0..pe.node.topology.pes()).map(PeId) {
        send(pe, to, SyncMessage::Over { round, moves: moves.remove(&to).unwrap_or_default() });
    }
    let mut syncs = state(pe).borrow_mut();
    if let Some(every) = pe.node.balancing.every {
        syncs.gathered.start_clock(every);
    }
    syncs.gathered.end()
}

/// Takes what a PE has; when all have said it, plans the moves and tells all PEs that the balancing is over.
pub(super) fn take(pe: &Pe, round: Round, from: PeId, measured: MeasuredHere) {
    let pes = pe.node.topology.pes();
    let all = state(pe).borrow_mut().gathered.take((round, from), measured, pes);
    let Some(all) = all else { return };
    let (since, moved) = (all.since, Duration::try_from_secs_f64(all.carrying_out()).unwrap_or_default());
    let moves = if is_turn(pe, round, &all) {
        match plan(pe, all) {
            Ok(moves) => moves,
            Err(cause) => return pe.fail("a balancing".to_owned(), cause),
        }
    } else {
        MovesByPe::default()
    };
    let took = clock::since(since);
    state(pe).borrow_mut().gathered.note_took(took + moved);
    if may_rest(pe, round) {
        state(pe).borrow_mut().gathered.turns.plan_took(took.as_secs_f64());
    }
    let next = end(pe, round, moves);
    carry_on(pe, next);
}

/// Whether the balancer has its turn.
fn is_turn(pe: &Pe, round: Round, all: &All) -> bool {
    if !may_rest(pe, round) {
        return true;
    }
    let decision = state(pe).borrow_mut().gathered.turns.decide(taken(all));
    if let Some(syncs) = decision.rests_for {
        events::info(format_args!(
            "two balancings in a row have made the longest PE no shorter: the balancer (`+balance_when auto`) looks again after {syncs} syncs"
        ));
    }
    decision.balances
}

/// What PEs have taken, whatever elements say of their loads.
fn taken(all: &All) -> Taken {
    let of_pe =
        |here: &MeasuredHere| here.fixed + here.elements.iter().map(|element| element.time).sum::<f64>();
    let times = all.measured.iter().map(|(_, here)| of_pe(here));
    Taken {
        max: times.clone().fold(0.0, f64::max),
        average: times.sum::<f64>() / all.measured.len().max(1) as f64,
        carrying_out: all.carrying_out(),
    }
}

/// Plans the moves.
fn plan(pe: &Pe, All { measured, .. }: All) -> Result<MovesByPe, String> {
    let number = state(pe).borrow_mut().gathered.number_turn();
    let name = pe.node.balancer.as_deref().unwrap_or_default();
    let strategies = Strategies::named(name).map_err(|error| error.to_string())?;
    let (measured, members) = bring_together(pe, measured)?;
    let (loads, numbers) = measured.build_numbered().map_err(|error| error.to_string())?;
    let planned = strategies.turn(number).plan(&loads);
    dump(pe, number, &loads, &planned)?;
    let mut places: Vec<usize> = vec![0; members.len()];
    numbers.iter().enumerate().for_each(|(place, number)| places[*number] = place);
    let mut moves = MovesByPe::default();
    for (number, to) in planned.planned() {
        moves.entry(loads.objects()[number].at).or_default().push((members[places[number]], to));
    }
    let told = (0..loads.pes()).map(|pe| loads.load_of(PeId(pe))).collect();
    let planned = moves.values().map(|of_pe| of_pe.len() as u64).sum();
    pe.node.balancing_history.add(BalancingFigures { number, loads: told, moves: planned });
    Ok(moves)
}

/// Makes measurements of a job of those of its PEs, and says who its objects are.
fn bring_together(pe: &Pe, all: Vec<(PeId, MeasuredHere)>) -> Result<(Measured, Vec<Member>), String> {
    let topology = &pe.node.topology;
    let mut measured = Measured::new(topology.nodes(), topology.pes_per_node());
    let (mut members, mut calls, mut bonds) = (Vec::new(), Vec::new(), FxHashMap::default());
    let unit = Unit::of(all.iter().map(|(_, here)| here));
    for (at, MeasuredHere { fixed, elements, calls: called, room, .. }) in all {
        calls.extend(called);
        let fixed_here = measured.fixed.get_mut(at.0 as usize);
        *fixed_here.ok_or_else(|| format!("{at} does not exist"))? = unit.fixed(fixed);
        if let Some(room) = room {
            measured.room[topology.node_of(at).index()] = room;
        }
        for element in elements {
            let array = element.member.0.serial;
            let object = Object::new(at, unit.load(&element));
            let bond = element.bond.map(|first| {
                let next = bonds.len() as u32;
                // Who has moved since a PE said what it has is said to be on two.
                *bonds.entry((first, element.member.1, at)).or_insert(next)
            });
            measured.objects.push(Object {
                bytes: element.bytes,
                may_move: element.may_move,
                position: element.position,
                array,
                bond,
                ..object
            });
            members.push(element.member);
        }
    }
    measured.edges = edges(&members, &calls);
    Ok((measured, members))
}

/// Who called whom, by the numbers of elements; others are left out.
fn edges(members: &[Member], calls: &[MeasuredCalls]) -> Vec<Edge> {
    if calls.is_empty() {
        return Vec::new();
    }
    let numbers: FxHashMap<&Member, usize> =
        members.iter().enumerate().map(|(number, member)| (member, number)).collect();
    let mut edges = FxHashMap::<_, (u64, u64)>::default();
    for MeasuredCalls { from, to, calls, bytes } in calls {
        if let (Some(from), Some(to)) = (numbers.get(from), numbers.get(to)) {
            // An element that has moved has been a caller on two PEs.
            let edge = edges.entry((*from, *to)).or_default();
            *edge = (edge.0.saturating_add(*calls), edge.1.saturating_add(*bytes));
        }
    }
    let edge = |((from, to), (calls, bytes))| Edge { from, to, bytes, calls };
    let mut edges: Vec<Edge> = edges.into_iter().map(edge).collect();
    // The same calls make the same plan.
    edges.sort_unstable_by_key(|edge| (edge.from, edge.to));
    edges
}

/// Writes down what the balancer looked at and planned, if that is asked for.
fn dump(pe: &Pe, number: u64, loads: &Loads, planned: &Moves) -> Result<(), String> {
    let Some(path) = &pe.node.balancing.dump else { return Ok(()) };
    let record = BalanceRecord {
        number,
        balancer: pe.node.balancer.as_deref().unwrap_or_default().to_owned(),
        loads: loads.clone(),
        moves: planned.planned(),
        refused: planned.refused(),
        imbalance_after: planned.imbalance(),
    };
    state(pe).borrow_mut().gathered.dump.write(path, &record)
}
