//! Invocation of an entry: the chare runs it, and what comes of that is counted, told or the end of the chare.
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> **delivery/invocation** -> the entry method`

use super::lifecycle::remove_if_destroyed;
use super::outliving::outlive;
use crate::base::deadline::Deadline;
use crate::model::arguments::Arguments;
use crate::model::envelope::Call;
use crate::model::ids::BroadcastId;
use crate::model::nocopy::NocopyArguments;
use crate::model::registry::{AnyChare, Called, EntryRegistration, Identity, NotCalled, Standing, explain};
use crate::node::timeline::{Kind, What};
use crate::pe::Pe;
use crate::pe::running::{Running, Whose};
use crate::transfer::arrival;
use std::rc::Rc;

/// Calls an entry of a free chare like a function, from inside the code that runs.
pub(crate) fn call_inline(
    pe: &Pe,
    chare: &Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    mut arguments: Arguments,
) {
    pe.counters.entries.add(1);
    // The caller's own request to be removed is set aside meanwhile.
    let caller_is_destroyed = pe.destroyed.take();
    let call = (Whose::Chare(Rc::clone(chare)), entry.name);
    let nocopy = NocopyArguments::new(None);
    let result = pe.run_inside(Kind::Entry, call, || (entry.invoke)(chare, &mut arguments, nocopy));
    if let Err(cause) = result {
        fail_entry(pe, entry, &cause, chare);
    }
    remove_if_destroyed(pe, chare.identity().target);
    pe.destroyed.set(caller_is_destroyed);
}

/// Runs an entry, whose arguments are all here, and gives the chare back. Inlined into its callers: a function call here costs a tenth of
/// a message.
#[inline(always)]
pub(super) fn run<const SEEN: bool>(
    pe: &Pe,
    chare: Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    passed: Passed<'_>,
) -> (Called, Rc<dyn AnyChare>) {
    if SEEN {
        return run_seen(pe, chare, entry, passed);
    }
    pe.run_entry(chare, entry.name, passed.reference, |chare| {
        (entry.invoke)(chare, passed.arguments, passed.nocopy)
    })
}

/// The same on a PE that may have a timeline, or take the times of entries.
fn run_seen(
    pe: &Pe,
    chare: Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    passed: Passed<'_>,
) -> (Called, Rc<dyn AnyChare>) {
    let _span = pe.span(|| What::of(Kind::Entry, chare.identity(), entry.name));
    pe.run_entry(chare, entry.name, passed.reference, |chare| {
        let invoke = || (entry.invoke)(chare, passed.arguments, passed.nocopy);
        pe.timed(|| (chare.identity().name(), entry.name), invoke)
    })
}

/// Concludes the run of an entry: counts it, and removes the chare if it asked for that. Inlined into its callers, like [`run`].
#[inline(always)]
pub(super) fn conclude(pe: &Pe, chare: Rc<dyn AnyChare>) {
    pe.counters.entries.add(1);
    if pe.destroyed.get() {
        remove(pe, chare);
    }
}

/// Removes a chare and drops it.
#[cold]
fn remove(pe: &Pe, chare: Rc<dyn AnyChare>) {
    remove_if_destroyed(pe, chare.identity().target);
    pe.drop_chare(chare);
}

/// Handles the result of [`run`], for a chare that was in its PE's tables just now.
pub(super) fn finish(pe: &Pe, entry: &EntryRegistration, (called, chare): (Called, Rc<dyn AnyChare>)) {
    if let Err(cause) = called {
        match *cause {
            NotCalled::Leaves => pe.destroyed.set(true),
            cause => {
                // Entries do not run inside each other, and what a panic left there is over.
                pe.leave_inside(0);
                fail_entry(pe, entry, &cause, &chare);
            }
        }
    }
    conclude(pe, chare);
}

/// Runs an entry of a chare that was in its PE's tables just now.
pub(super) fn invoke(
    pe: &Pe,
    chare: Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    passed: Passed<'_>,
) {
    let ran = run::<true>(pe, chare, entry, passed);
    finish(pe, entry, ran);
}

/// Calls an entry of a free chare that it has begun before, with the same arguments, as a part of the same broadcast and with the
/// same deadline, also when that is over.
pub(crate) fn call_anew(
    pe: &Pe,
    chare: Rc<dyn AnyChare>,
    entry: &'static EntryRegistration,
    mut arguments: Arguments,
    (reference, within, deadline): (u64, Option<BroadcastId>, Option<Deadline>),
) {
    let passed = Passed { arguments: &mut arguments, nocopy: NocopyArguments::new(None), reference };
    pe.run_of(within, deadline, || invoke(pe, chare, entry, passed));
}

/// The parts of a call that its entry gets.
pub(super) struct Passed<'a> {
    pub(super) arguments: &'a mut Arguments,
    pub(super) nocopy: NocopyArguments<'a>,
    pub(super) reference: u64,
}

impl<'a> From<&'a mut Call> for Passed<'a> {
    #[inline]
    fn from(Call { arguments, nocopy, reference, .. }: &'a mut Call) -> Self {
        Self { arguments, nocopy: NocopyArguments::new(nocopy.as_deref_mut()), reference: *reference }
    }
}

#[cold]
fn fail_entry(pe: &Pe, entry: &EntryRegistration, cause: &NotCalled, chare: &Rc<dyn AnyChare>) {
    if let NotCalled::Panicked(cause) = cause {
        return outlive(pe, chare, entry.name, cause.clone());
    }
    pe.fail(format!("{}::{}", entry.chare, entry.name), explain(cause, chare.identity()));
}

/// Drops a call whose chare is gone: lenders get their memory back, and who waits for a result hears that none comes.
pub(crate) fn forsake(pe: &Pe, call: Call) {
    forsake_late(pe, call, None);
}

/// Drops a call whose chare is gone, or whose deadline was over before it began.
pub(super) fn forsake_late(pe: &Pe, call: Call, deadline: Option<Deadline>) {
    let Call { target, entry, arguments, nocopy, .. } = call;
    let identity = Identity::new(target, &entry.chare, Standing::GONE);
    if let Some(nocopy) = nocopy {
        arrival::decline(&pe.node, *nocopy);
    }
    // What is dropped is the user's, and may run any code.
    let running = Running { unborn: Some(Rc::new(identity)), ..Running::named(entry.name) };
    pe.run_of(None, deadline, || pe.run_as(running, || (entry.forsake)(arguments)));
}
