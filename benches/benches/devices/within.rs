//! Packing and unpacking within a device, beside a copy of as many bytes: by one step, and by the device's two-dimensional copy.

use crate::bed::{Bed, Fallible, every_second};
use crate::blocking::Between;
use crate::row::{Row, Table};
use chare_benches::Spread;
use chare_layout::Plan;
use std::sync::Arc;

/// Operations given at once: the wait for the end weighs nothing.
const AT_ONCE: u32 = 16;

pub(crate) fn pack(bed: &Bed, table: &mut Table) -> Fallible {
    for (bytes, block) in bed.shapes() {
        let plan = Plan::pack(&every_second(bytes, block)?)?;
        let ceiling = measure(bed, table, Row { part: "pack", side: "one step", bytes, block }, plan)?;
        let between = Between::new(bed, bytes, block)?;
        let took = bed.time(AT_ONCE, || between.pack())?;
        table.add(Row { part: "pack", side: "2-D copy", bytes, block }, took, ceiling);
    }
    Ok(())
}

pub(crate) fn unpack(bed: &Bed, table: &mut Table) -> Fallible {
    for (bytes, block) in bed.shapes() {
        let plan = Plan::unpack(&every_second(bytes, block)?)?;
        let ceiling = measure(bed, table, Row { part: "unpack", side: "one step", bytes, block }, plan)?;
        let between = Between::new(bed, bytes, block)?;
        let took = bed.time(AT_ONCE, || between.unpack())?;
        table.add(Row { part: "unpack", side: "2-D copy", bytes, block }, took, ceiling);
    }
    Ok(())
}

/// Returns what a copy of as many bytes takes.
fn measure(bed: &Bed, table: &mut Table, row: Row<'_>, plan: Plan) -> Fallible<Spread> {
    let plan = Arc::new(plan);
    let (from, mut to) = (bed.shared(2 * row.bytes)?, bed.zeroed(2 * row.bytes)?);
    let took = bed.time(AT_ONCE, || Ok(to.step_from(&bed.stream, &plan, &from)?))?;
    let ceiling = copy(bed, row.bytes)?;
    table.add(row, took, ceiling);
    Ok(ceiling)
}

/// The device's own copy.
fn copy(bed: &Bed, bytes: u64) -> Fallible<Spread> {
    let (from, mut to) = (bed.shared(bytes)?, bed.zeroed(bytes)?);
    bed.time(AT_ONCE, || Ok(to.copy_from(&bed.stream, &from)?))
}
