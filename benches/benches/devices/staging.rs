//! Staging: blocks of a device to pinned memory and back by each method, by the one that the measured model chooses, and by two-dimensional
//! copies, beside a copy of bytes that lie side by side.

use crate::bed::{Bed, Fallible, every_second};
use crate::blocking::{Between, Scheme};
use crate::row::{Row, Table};
use chare_benches::Spread;
use chare_device::{Facts, Method, Model, Way};
use chare_layout::Plan;
use std::sync::Arc;

/// Blocks that are copied one by one at most, but for the pipeline's one case: more take seconds.
const BLOCKS_MAX: u64 = 1 << 14;

/// The methods that are tried for so many blocks.
fn methods(blocks: u64) -> impl Iterator<Item = Method> {
    Method::ALL.into_iter().filter(move |method| *method != Method::Blocks || blocks <= BLOCKS_MAX)
}

/// What the model's choice is called, which is one of the methods.
const CHOSEN: &str = "as the model chooses";

pub(crate) fn stage(bed: &Bed, table: &mut Table) -> Fallible {
    let model = Model::measure(&bed.device)?;
    for (bytes, block) in bed.shapes() {
        let (plan, from) = (Arc::new(Plan::pack(&every_second(bytes, block)?)?), bed.shared(2 * bytes)?);
        let ceiling = to_host(bed, bytes)?;
        for method in methods(bytes / block) {
            let took =
                bed.time(1, || from.stage_by(method, &bed.stream, &plan).map(drop).map_err(Into::into))?;
            table.add(Row { part: "stage", side: &method.to_string(), bytes, block }, took, ceiling);
        }
        let chosen = model.choose(Facts::of(&plan), Way::Out, &[]).method;
        let took = bed.time(1, || from.stage_by(chosen, &bed.stream, &plan).map(drop).map_err(Into::into))?;
        table.add(Row { part: "stage", side: CHOSEN, bytes, block }, took, ceiling);
        let between = Between::new(bed, bytes, block)?;
        for scheme in Scheme::ALL {
            let took = bed.time(1, || between.stage(scheme))?;
            table.add(Row { part: "stage", side: scheme.name(), bytes, block }, took, ceiling);
        }
    }
    Ok(())
}

pub(crate) fn unstage(bed: &Bed, table: &mut Table) -> Fallible {
    let model = Model::measure(&bed.device)?;
    for (bytes, block) in bed.shapes() {
        let (plan, mut to) = (Arc::new(Plan::unpack(&every_second(bytes, block)?)?), bed.zeroed(2 * bytes)?);
        let ceiling = to_device(bed, bytes)?;
        let mut time = |method| {
            bed.time(1, || {
                let pinned = bed.device.pinned(bytes)?;
                Ok(to.unstage_by(method, &bed.stream, &plan, pinned)?)
            })
        };
        for method in methods(bytes / block) {
            let took = time(method)?;
            table.add(Row { part: "unstage", side: &method.to_string(), bytes, block }, took, ceiling);
        }
        let took = time(model.choose(Facts::of(&plan), Way::In, &[]).method)?;
        table.add(Row { part: "unstage", side: CHOSEN, bytes, block }, took, ceiling);
        let between = Between::new(bed, bytes, block)?;
        for scheme in Scheme::ALL {
            let took = bed.time(1, || between.unstage(scheme))?;
            table.add(Row { part: "unstage", side: scheme.name(), bytes, block }, took, ceiling);
        }
    }
    Ok(())
}

/// A copy of bytes that lie side by side to pinned memory.
pub(crate) fn to_host(bed: &Bed, bytes: u64) -> Fallible<Spread> {
    let from = bed.shared(bytes)?;
    bed.time(1, || from.read(&bed.stream).map(drop).map_err(Into::into))
}

/// And back.
fn to_device(bed: &Bed, bytes: u64) -> Fallible<Spread> {
    let (mut to, plan) = (bed.zeroed(bytes)?, Arc::new(Plan::unpack(&every_second(bytes, bytes)?)?));
    bed.time(1, || {
        let pinned = bed.device.pinned(bytes)?;
        Ok(to.unstage_by(Method::Blocks, &bed.stream, &plan, pinned)?)
    })
}
