//! Shared call of many members: each member gets a copy of the arguments, and a share in the nocopy arguments.

use super::dispatch::run_call;
use super::invocation::{Passed, finish, invoke};
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Call;
use crate::model::nocopy::{Local, Nocopy, NocopyArguments};
use crate::model::registry::{AnyChare, EntryRegistration};
use crate::node::timeline::{Kind, What};
use crate::pe::Pe;
use crate::pe::queued::Outcome;
use crate::transfer::many::dealt;
use std::rc::Rc;

/// The parts of a call that all called members share.
pub(crate) struct SharedCall<'a> {
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: &'a Arguments,
    pub(crate) nocopy: &'a [Local],
    pub(crate) reference: u64,
}

/// Calls a member that is here.
pub(crate) fn call_member(pe: &Pe, options: &CallOptions, member: Rc<dyn AnyChare>, shared: &SharedCall<'_>) {
    let SharedCall { entry, arguments, nocopy, reference } = *shared;
    if nocopy.is_empty() {
        let span = pe.span(|| What::of(Kind::Entry, member.identity(), entry.name));
        let ran = pe.run_entry(member, entry.name, reference, |chare| {
            let invoke = || (entry.invoke_with_copy)(chare, arguments);
            pe.timed(|| (chare.identity().name(), entry.name), invoke)
        });
        drop(span);
        return finish(pe, entry, ran);
    }
    let last = LastCall { entry, arguments: arguments.clone(), nocopy: nocopy.to_vec(), reference };
    call_last_member(pe, options, member, last);
}

/// The parts of a call that its last member gets.
pub(crate) struct LastCall {
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    pub(crate) nocopy: Vec<Local>,
    pub(crate) reference: u64,
}

/// Calls the last member: this member gets the arguments themselves, not a copy.
pub(crate) fn call_last_member(pe: &Pe, options: &CallOptions, member: Rc<dyn AnyChare>, last: LastCall) {
    let LastCall { entry, mut arguments, nocopy, reference } = last;
    let target = member.identity().target;
    let mut nocopy = match dealt::for_member(pe, options, nocopy, target) {
        Ok(nocopy) => Nocopy::Leaving(nocopy),
        Err(cause) => return pe.fail(format!("a call of {}::{}", entry.chare, entry.name), cause),
    };
    if nocopy.is_ready(entry.nocopy) {
        let nocopy = NocopyArguments::new(Some(&mut nocopy));
        return invoke(pe, member, entry, Passed { arguments: &mut arguments, nocopy, reference });
    }
    // A message of its own: the call may wait for its buffers.
    pe.counters.sent.add(1);
    let call = Call { target, from: pe.id, entry, arguments, nocopy: Some(Box::new(nocopy)), reference };
    if run_call(pe, options.for_one(), call) == Outcome::Processed {
        pe.counters.processed.add(1);
    }
}
