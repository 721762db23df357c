//! Delivery of bundles: calls of members that live on this PE are run, and the others go on.

use super::buffers::add;
use super::bundle::{AggregatedEntry, Bundle, operations};
use super::items::{Items, Run, bytes_of};
use crate::delivery::lifecycle::remove_if_destroyed;
use crate::delivery::outliving::outlive;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call};
use crate::model::ids::{CollectionId, Index, PeId, Target};
use crate::model::nocopy::NocopyArguments;
use crate::model::registry::{Called, NotCalled, entry, explain, lend, outlived};
use crate::node::timeline::{Kind, What};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;

/// Delivers a bundle that has come.
pub(super) fn deliver(pe: &Pe, options: CallOptions, bundle: Bundle) -> Outcome {
    let collection = bundle.collection;
    if pe.places.borrow().collection(collection).is_none() {
        return pe.keep(Missing::Collection(collection), options, Body::System(Box::new(bundle)));
    }
    let entry = bundle.entry;
    let delivered = operations(entry).and_then(|operations| (operations.deliver)(pe, bundle));
    if let Err(cause) = delivered {
        pe.fail(format!("{}::{}", entry.chare, entry.name), cause);
    }
    Outcome::Processed
}

/// Delivers a bundle for its entry, whose type is known here.
///
/// # Errors
/// When a call is for a chare that has no such entry, in words.
pub(super) fn deliver_items<E: AggregatedEntry>(pe: &Pe, bundle: Bundle) -> Result<(), String> {
    let Bundle { collection, from, items, .. } = bundle;
    let items: Items<E::Arguments> = items.take().map_err(|error| error.to_string())?;
    let (runs, mut arguments) = items.into_parts();
    for Run { index, to, calls } in runs {
        if to == pe.id {
            run::<E>(pe, (collection, index), from, (calls, &mut arguments))?;
        } else {
            for arguments in arguments.by_ref().take(calls) {
                let bytes = bytes_of(&arguments);
                add::<E>(pe, collection, (index, to), arguments, bytes);
            }
        }
    }
    Ok(())
}

/// Runs the calls of one member; the calls that are left when the member is not here, or no longer, go on.
fn run<E: AggregatedEntry>(
    pe: &Pe,
    (collection, index): (CollectionId, Index),
    from: PeId,
    (mut calls, arguments): (usize, &mut impl Iterator<Item = E::Arguments>),
) -> Result<(), String> {
    let target = Target::Member(collection, index);
    while calls > 0 {
        let found = pe.places.borrow().look_up(target);
        let Some(chare) = found else {
            let calls = arguments.take(calls);
            calls.for_each(|arguments| reroute::<E>(pe, (collection, index), from, arguments));
            return Ok(());
        };
        let mut ran = 0;
        let span = pe.span(|| What::of(Kind::Entries, chare.identity(), E::NAME));
        let (called, chare) = pe.run_entry(chare, E::NAME, 0, |chare| {
            let invoke = || {
                let this = lend::<E::Chare>(chare)?;
                for arguments in arguments.by_ref().take(calls) {
                    ran += 1;
                    outlived::<E::Chare>(|| E::invoke(this, arguments, NocopyArguments::new(None)))?;
                    if pe.destroyed.get() {
                        break;
                    }
                }
                Called::Ok(())
            };
            pe.timed(|| (chare.identity().name(), E::NAME), invoke)
        });
        drop(span);
        match called.map_err(|cause| *cause) {
            Ok(()) => {}
            Err(NotCalled::Panicked(cause)) => {
                pe.leave_inside(0);
                outlive(pe, &chare, E::NAME, cause);
            }
            Err(cause) => return Err(explain(&cause, chare.identity())),
        }
        pe.counters.entries.add(ran as u64);
        remove_if_destroyed(pe, target);
        calls -= ran;
    }
    Ok(())
}

/// Sends on a call of a member that is not here, as a message of its own.
#[cold]
fn reroute<E: AggregatedEntry>(
    pe: &Pe,
    (collection, index): (CollectionId, Index),
    from: PeId,
    arguments: E::Arguments,
) {
    let entry = entry::<E>();
    let target = Target::Member(collection, index);
    let call = Call { target, from, entry, arguments: Arguments::new(arguments), nocopy: None, reference: 0 };
    pe.counters.sent.add(1);
    if pe.reroute(entry.options.clone(), call, (collection, index)) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
}
