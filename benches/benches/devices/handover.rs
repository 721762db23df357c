//! Hand-over: what it costs that two processes share a device, which runs the one or the other unless MPS runs: a step alone, one step after
//! the other's, and one while the other is busy.

use crate::bed::{Bed, Fallible};
use crate::peer::{BUSY, ECHO, ONE_STEP, Peer, STEP, Steps};
use crate::row::{Row, Table};

pub(crate) fn measure(bed: &Bed, table: &mut Table) -> Fallible {
    let (mut peer, steps) = (Peer::start(bed.kind)?, Steps::new(bed)?);
    let row = |side| Row { part: "handover", side, bytes: STEP.0, block: STEP.1 };
    let alone = bed.timed(|| steps.take(bed))?;
    table.add(row("a step, while the other sleeps"), alone, alone);
    let word = bed.timed(|| peer.ask(ECHO).map(drop))?;
    table.add(row("a word there and back, no step"), word, alone);
    let turns = bed.timed(|| {
        steps.take(bed)?;
        peer.ask(ONE_STEP).map(drop)
    })?;
    table.add(row("a step here, then one there"), turns, alone);
    peer.ask(BUSY)?;
    let beside = bed.timed(|| steps.take(bed))?;
    table.add(row("a step, while the other is busy"), beside, alone);
    let handover_us = (turns.median - 2.0 * alone.median - word.median) / 2e3;
    println!("the device goes from one process to the other in {handover_us:.1} us, by the medians");
    Ok(())
}
