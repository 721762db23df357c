//! Panics that a chare outlives, because its type says so: they are told on standard error, and the chare goes on or is made anew.
//!
//! 1. What the entry owed its caller is broken while the panic unwinds (see `api/promise`), so the caller learns the cause.
//! 2. A chare that is made anew keeps its place, its proxies, its part in reductions and the calls that wait for it; its state is a new
//!    one, and its `async` entries that waited are dropped.
//! 3. The constructor's arguments are kept beside the chares, for such types alone. A constructor that panics ends the job.

use crate::model::error::JobError;
use crate::model::registry::{AnyChare, OnPanic};
use crate::node::timeline::Kind;
use crate::pe::Pe;
use crate::pe::running::{Running, Whose};
use chare_lrts::events;
use std::rc::Rc;

/// Goes on after a panic in an entry of a chare.
pub(crate) fn outlive(pe: &Pe, chare: &Rc<dyn AnyChare>, entry: &'static str, cause: String) {
    let running = Running { chare: Some(Rc::clone(chare)), ..Running::named(entry) };
    let what = running.describe();
    let fate = match chare.on_panic() {
        OnPanic::Renew => "the chare is made anew",
        OnPanic::End | OnPanic::Answer => "the chare goes on",
    };
    events::warn(format_args!("{}; {fate}", JobError::Panic { what, pe: pe.id, node: pe.node.id, cause }));
    if chare.on_panic() == OnPanic::Renew {
        renew(pe, chare);
    }
}

fn renew(pe: &Pe, chare: &Rc<dyn AnyChare>) {
    let identity = chare.identity();
    pe.tasks.drop_of(identity);
    // Taken out meanwhile: a clone may run code of the user.
    let kept = pe.renewals.borrow_mut().remove(&identity.target);
    let arguments = kept.expect("the arguments of such chares are kept");
    let again = arguments.clone();
    pe.renewals.borrow_mut().insert(identity.target, arguments);
    let whose = Whose::Unborn(Rc::new(identity.clone()));
    if let Err(error) = pe.run_inside(Kind::Constructor, (whose, "constructor"), || chare.renew(again)) {
        pe.fail(format!("the constructor of {}", identity.name()), error);
    }
}
