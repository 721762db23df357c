//! The canonical form: rules that make layouts of one content one value, each of them one function.
//!
//! 1. [`drop_single_counts`]: a loop of one step is none.
//! 2. [`is_empty`]: pieces without bytes vanish, the first one too.
//! 3. [`melt_loops`]: a loop whose stride is the length of the one run inside melts into it; of two loops, the outer one
//!    continues the inner one if it starts where that ends. The *run* counts, never the extent.
//! 4. [`lift`]: a group of one, or at one place, is what it holds; places that loops go through are these
//!    loops.
//! 5. [`splice`]: groups without loops splice in order.
//! 6. [`melt_neighbours`]: pieces melt where *the end of one is the start of the next*.
//! 7. [`list`]: pieces of one length that loops go through are these loops, as many steps of each as are evenly spaced; otherwise indices,
//!    which blocks of one length are even if some touch; runs where the indices would take more memory.
//! 8. [`fold`]: operations that differ in their places alone, evenly spaced, are steps of a loop around one of them.
//! 9. [`extend`]: what continues the steps of the loop before it is steps of that loop.
//!
//! Negative strides and stride 0 stay. The order of the type map never changes. Equal forms select equally; that layouts which
//! select equally have equal forms holds within these rules, not for every way to write a list of loops.

use crate::LayoutError;
use crate::value::lists::{list, melt_neighbours, nest};
use crate::value::op::{Body, Loop, Loops, Op, lengths};
use crate::value::{limits, sums};
use smallvec::SmallVec;
use std::sync::Arc;

/// A loop of at most so many blocks beside other pieces becomes one list with them.
const SHORT_LOOP_STEPS: u64 = 8;

/// The canonical form of operations one after the other.
pub(crate) fn canonical(mut ops: SmallVec<[Op; 1]>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    match &mut ops[..] {
        // Mostly there is one, and it stays where it is: moving it would take longer than what is done to it.
        [lone] if is_leaf(lone) && !is_empty(lone) => simplify(lone)?,
        _ => ops = joined(ops)?,
    }
    limits::check(&ops)?;
    Ok(ops)
}

/// The form of several operations, or of a tree of them.
fn joined(ops: SmallVec<[Op; 1]>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    let mut simple = SmallVec::new();
    for op in ops {
        splice(op, &mut simple)?;
    }
    // What one rule makes may be what another one looks for; each leaves fewer operations, or all as they are.
    let mut before = usize::MAX;
    while (2..before).contains(&simple.len()) {
        before = simple.len();
        simple = extend(gather(fold(simple)?)?)?;
    }
    Ok(simple)
}

/// Makes operations that differ in their places alone, evenly spaced, steps of one loop; blocks are left to [`gather`].
fn fold(ops: SmallVec<[Op; 1]>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    let mut folded = SmallVec::new();
    let mut rest = &ops[..];
    while let Some((first, behind)) = rest.split_first() {
        let (count, stride) = alike(first, behind);
        let mut op = first.clone();
        if count > 1 {
            op.loops.insert(0, Loop { count: count as u64, stride });
            op = Op::new(op.at, op.loops, op.body)?;
            simplify(&mut op)?;
        }
        folded.push(op);
        rest = &rest[count..];
    }
    Ok(folded)
}

/// How many operations from the first one on differ in their places alone, evenly spaced, and by how much.
fn alike(first: &Op, behind: &[Op]) -> (usize, i64) {
    let is_block = matches!(first.body, Body::Block(_)) && first.loops.is_empty();
    let Some(second) = behind.first().filter(|_| !is_block && first.loops.len() < limits::LOOPS_MAX) else {
        return (1, 0);
    };
    let Some(stride) = second.at.checked_sub(first.at) else { return (1, 0) };
    let mut before = first.at;
    let steps = behind.iter().take_while(|op| {
        let is_next = op.at.checked_sub(before) == Some(stride);
        before = op.at;
        is_next && op.loops == first.loops && op.body == first.body
    });
    (1 + steps.count(), stride)
}

/// Whether its body holds no operations.
fn is_leaf(op: &Op) -> bool {
    !matches!(op.body, Body::Each { .. } | Body::Group(_))
}

/// The rules for loops.
fn simplify(op: &mut Op) -> Result<(), LayoutError> {
    drop_single_counts(&mut op.loops);
    melt_loops(op)
}

/// Whether an operation selects nothing.
fn is_empty(op: &Op) -> bool {
    op.bytes == 0
}

/// Removes loops of one step.
fn drop_single_counts(loops: &mut Loops) {
    loops.retain(|one| one.count != 1);
}

/// Melts loops into the block inside, and into each other.
fn melt_loops(op: &mut Op) -> Result<(), LayoutError> {
    if let Body::Block(len) = &mut op.body {
        while let Some(inner) = op.loops.last().filter(|inner| u64::try_from(inner.stride) == Ok(*len)) {
            *len = sums::mul_bytes(*len, inner.count)?;
            op.loops.pop();
        }
    }
    for outer in (1..op.loops.len()).rev().map(|inner| inner - 1) {
        let (before, after) = (op.loops[outer], op.loops[outer + 1]);
        if i128::from(before.stride) == i128::from(after.stride) * i128::from(after.count) {
            op.loops[outer + 1].count = sums::mul_bytes(before.count, after.count)?;
            op.loops.remove(outer);
        }
    }
    Ok(())
}

/// Takes a lone operation out of its group, and makes evenly spaced places a loop.
fn lift(mut op: Op) -> Result<Op, LayoutError> {
    loop {
        op = match &op.body {
            Body::Each { offsets, of } => {
                let (mut at, mut loops) = (op.at, op.loops.clone());
                at = sums::add(at, offsets[0])?;
                if let Some(nest) = nest(offsets.len(), |number| offsets[number]) {
                    loops.extend_from_slice(&nest);
                } else if offsets.len() > 1 {
                    match of.as_ref() {
                        [Op { at: inner, loops: none, body: Body::Block(len), .. }] if none.is_empty() => {
                            let runs: Result<Vec<_>, _> = offsets
                                .iter()
                                .map(|offset| Ok((sums::add(*offset, *inner)?, *len)))
                                .collect();
                            let listed = list(&melt_neighbours(runs?))?;
                            loops.extend_from_slice(&listed.loops);
                            return Op::new(sums::add(op.at, listed.at)?, loops, listed.body);
                        }
                        _ => return based(op),
                    }
                }
                Op::new(at, loops, Body::Group(Arc::clone(of)))?
            }
            Body::Group(ops) => match ops.as_ref() {
                [lone] => group(std::slice::from_ref(lone), op.at, op.loops.clone())?,
                _ => return Ok(op),
            },
            _ => return Ok(op),
        };
    }
}

/// Places count from the first one.
fn based(op: Op) -> Result<Op, LayoutError> {
    let Body::Each { offsets, of } = &op.body else { return Ok(op) };
    let first = offsets[0];
    if first == 0 {
        return Ok(op);
    }
    let offsets: Result<Arc<[i64]>, _> = offsets
        .iter()
        .map(|one| one.checked_sub(first).ok_or(LayoutError::TooFar { what: sums::PLACE }))
        .collect();
    Op::new(sums::add(op.at, first)?, op.loops.clone(), Body::Each { offsets: offsets?, of: Arc::clone(of) })
}

/// Adds an operation by the rules for one; groups without loops splice in order.
fn splice(op: Op, into: &mut SmallVec<[Op; 1]>) -> Result<(), LayoutError> {
    if is_empty(&op) {
        return Ok(());
    }
    let mut op = if is_leaf(&op) { op } else { lift(op)? };
    simplify(&mut op)?;
    match &op.body {
        Body::Group(ops) if op.loops.is_empty() => {
            ops.iter().try_for_each(|inner| splice(inner.shifted(op.at)?, into))
        }
        _ => {
            into.push(op);
            Ok(())
        }
    }
}

/// How many pieces an operation adds to a list; none if it stays as it is.
fn listable(op: &Op) -> bool {
    match (op.loops.as_slice(), &op.body) {
        ([], Body::Block(_) | Body::Indexed { .. } | Body::Runs(_)) => true,
        ([one], Body::Block(_)) => one.count <= SHORT_LOOP_STEPS,
        _ => false,
    }
}

/// The pieces of an operation that [`listable`] names.
fn pieces(op: &Op, runs: &mut Vec<(i64, u64)>) {
    match (&op.body, op.loops.first()) {
        (Body::Block(len), None) => runs.push((op.at, *len)),
        (Body::Block(len), Some(one)) => {
            runs.extend((0..one.count as i64).map(|step| (op.at + step * one.stride, *len)));
        }
        (Body::Indexed { block, scale, indices }, _) => {
            let places = indices.iter().map(|index| op.at + (u64::from(*index) * scale) as i64);
            runs.extend(places.map(|at| (at, *block)));
        }
        (Body::Runs(pieces), _) => runs.extend(lengths(pieces).map(|(at, len)| (op.at + at, len))),
        (Body::Each { .. } | Body::Group(_), _) => unreachable!("groups are no lists"),
    }
}

/// Makes neighbouring pieces one list each.
fn gather(ops: SmallVec<[Op; 1]>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    let mut gathered = SmallVec::new();
    for chunk in ops.chunk_by(|left, right| listable(left) && listable(right)) {
        match chunk {
            [lone] => gathered.push(lone.clone()),
            several => {
                let mut runs = Vec::new();
                for op in several {
                    crate::value::bounds::facts(std::slice::from_ref(op))?;
                    pieces(op, &mut runs);
                }
                gathered.push(list(&melt_neighbours(runs))?);
            }
        }
    }
    Ok(gathered)
}

/// Makes steps that continue a loop steps of that loop.
fn extend(ops: SmallVec<[Op; 1]>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    let mut extended: SmallVec<[Op; 1]> = SmallVec::new();
    for op in ops {
        match extended.last_mut().and_then(|last| Some((continued(last, &op)?, last))) {
            Some((count, last)) => {
                last.loops[0].count = count;
                last.bytes = sums::add_bytes(last.bytes, op.bytes)?;
            }
            None => extended.push(op),
        }
    }
    Ok(extended)
}

/// How many steps the outermost loop of `last` has together with those of `op`, if they continue it.
fn continued(last: &Op, op: &Op) -> Option<u64> {
    let (outer, rest) = last.loops.split_first()?;
    let (Body::Block(_), true) = (&last.body, last.body == op.body) else { return None };
    let steps = match op.loops.split_first() {
        Some((first, inner)) if first.stride == outer.stride && inner == rest => first.count,
        _ if op.loops.as_slice() == rest => 1,
        _ => return None,
    };
    let next = i128::from(last.at) + i128::from(outer.count) * i128::from(outer.stride);
    (i128::from(op.at) == next).then(|| outer.count.checked_add(steps))?
}

/// Operations one after the other, within loops.
#[inline]
pub(crate) fn group(ops: &[Op], at: i64, mut loops: Loops) -> Result<Op, LayoutError> {
    match ops {
        [lone] => {
            loops.extend_from_slice(&lone.loops);
            Op::new(sums::add(at, lone.at)?, loops, lone.body.clone())
        }
        several => Op::new(at, loops, Body::Group(several.into())),
    }
}

#[cfg(test)]
mod tests;
