//! Callbacks fired by a PE: each sends a value to the callback's goal.

use super::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{ErasedCallback, Goal};
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::EntryId;
use crate::model::registry::{EntryRegistration, find_entry};
use crate::pe::{CallOfMany, Pe, Service};

/// Sends a value to a callback's goal.
pub(crate) fn fire(pe: &Pe, callback: ErasedCallback, value: Arguments) {
    fire_with(pe, callback, value, None);
}

/// Like [`fire`]; the message is queued by `options`, if any are given, instead of the entry's own.
pub(crate) fn fire_with(pe: &Pe, callback: ErasedCallback, value: Arguments, options: Option<CallOptions>) {
    let fail = |cause| pe.fail("a callback".to_owned(), cause);
    match callback.goal {
        Goal::Ignore => {}
        Goal::Exit => pe.node.exit(0),
        Goal::Resolve(future) => {
            let body = Body::Resolve { future, value };
            outbox::send(pe, future.pe, Envelope { options: options.unwrap_or_default(), body });
        }
        Goal::Call { target, entry } => match typed(entry, value) {
            Ok((entry, arguments)) => {
                let (from, reference) = (pe.id, callback.reference);
                let call = Call { target, from, entry, arguments, nocopy: None, reference };
                outbox::send_made_call(pe, options.as_ref().unwrap_or(&entry.options), call);
            }
            Err(cause) => fail(cause),
        },
        Goal::Many { service, many, entry } => match (pe.service(service), typed(entry, value)) {
            (Some(Service { fire: Some(fire), .. }), Ok((entry, arguments))) => {
                let options = options.unwrap_or_else(|| entry.options.clone());
                fire(pe, CallOfMany { many, options, entry, arguments, reference: callback.reference });
            }
            (Some(service), Ok(_)) => fail(format!("{} calls nobody", service.name)),
            (None, Ok(_)) => fail(format!("there is no {service:?}")),
            (_, Err(cause)) => fail(cause),
        },
    }
}

/// The entry of a callback, and the value as its arguments. Only a reduction's result from other nodes is still encoded; the entry knows
/// the type.
fn typed(entry: EntryId, value: Arguments) -> Result<(&'static EntryRegistration, Arguments), String> {
    let entry = find_entry(entry)?;
    match value.as_encoded() {
        Some(bytes) => entry.decode(bytes).map(|value| (entry, value)),
        None => Ok((entry, value)),
    }
}
