//! Bringing in of a call's nocopy arguments when its turn has come: its post method says where they are to be, and they go there.
//!
//! Short ones are there when this returns, and the call runs at once. A call that has to wait is taken out of the queue; it waits at its
//! chare, with which it ends (see [`crate::pe::begun_calls`]), in a [`PostedCall`] for buffers, or for its last transfer.

use super::invocation::{forsake, invoke};
use super::lifecycle::remove_if_destroyed;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Call;
use crate::model::nocopy::{Few, Nocopy};
use crate::model::registry::{AnyChare, EntryRegistration, NotCalled, explain};
use crate::node::credit::Cost;
use crate::node::mailbox::Waited;
use crate::node::timeline::{Kind, What};
use crate::pe::Pe;
use crate::pe::queued::{FoundCall, Outcome};
use crate::transfer::arrival::{self, Brought, Coming};
use crate::transfer::lend::eager;
use crate::transfer::{Destination, PostedCall, Served};
use std::rc::Rc;
use std::sync::Arc;

/// How far the nocopy arguments of a call have come when its post method, if there is one, has run.
pub(super) enum Begun {
    /// All are here.
    Ready,
    /// Some wait for buffers.
    Posts(Arc<PostedCall>),
    /// Some are to be fetched.
    Coming(Coming),
    /// The chare was destroyed before.
    Lost,
    /// The chare was destroyed by its post method.
    Over,
    /// The job has failed.
    Failed,
}

impl Begun {
    /// Lets the call wait at its chare for what is still to come. One that is over has been processed.
    pub(super) fn wait(self, pe: &Pe, chare: &Rc<dyn AnyChare>, options: CallOptions, call: Call) -> Outcome {
        let destination =
            || Destination { pe: pe.id, options, cost: Cost::NONE, begun: Some(pe.begun_calls.enter(chare)) };
        match self {
            Self::Posts(waiting) => waiting.keep(&pe.node, destination(), call),
            Self::Coming(coming) => coming.fetch(&pe.node, destination(), call),
            Self::Lost => fail(pe, call.entry, "it was destroyed".to_owned()),
            Self::Over => {
                forsake(pe, call);
                return Outcome::Processed;
            }
            Self::Ready | Self::Failed => {}
        }
        Outcome::NotCounted
    }
}

/// Runs a call that has waited for its buffers at its chare; one whose chare is gone is over.
pub(super) fn go_on(pe: &Pe, Waited { begun, options, mut call, flaw }: Waited) {
    let Some(chare) = pe.begun_calls.leave(begun) else { return forsake(pe, call) };
    if let Some(cause) = flaw {
        return fail(pe, call.entry, cause);
    }
    pe.run_of(options.within(), options.due_at(), || invoke(pe, chare, call.entry, (&mut call).into()));
    // It kept its element where it is.
    pe.see_to_wishes();
}

fn fail(pe: &Pe, entry: &EntryRegistration, cause: String) {
    pe.fail(format!("{}::{}", entry.chare, entry.name), cause);
}

/// Runs the post method, if there is one, and brings nocopy arguments in.
pub(super) fn bring_in(
    pe: &Pe,
    chare: &Rc<dyn AnyChare>,
    (entry, reference): (&'static EntryRegistration, u64),
    arguments: &Arguments,
    nocopy: &mut Nocopy,
) -> Begun {
    let failed = |cause| {
        fail(pe, entry, cause);
        Begun::Failed
    };
    let mut given = Few::new();
    if entry.has_posts() {
        let (waiting, posts) = PostedCall::open(entry, nocopy);
        let _span = pe.span(|| What::of(Kind::Post, chare.identity(), entry.name));
        let post = |chare: &Rc<dyn AnyChare>| (entry.post)(chare, arguments, posts);
        match pe.run_entry(Rc::clone(chare), entry.name, reference, post).0 {
            Ok(()) if pe.destroyed.get() => {
                remove_if_destroyed(pe, chare.identity().target);
                return Begun::Over;
            }
            Ok(()) => {}
            Err(cause) if matches!(*cause, NotCalled::Gone) => return Begun::Lost,
            Err(cause) => return failed(explain(&cause, chare.identity())),
        }
        let served = waiting.serve(|all| {
            let landed = eager::land(&pe.counters, nocopy, all);
            landed.ok_or_else(|| std::mem::take(all))
        });
        given = match served {
            Ok(Served::All(Ok(landed))) => return landed.map_or_else(failed, |()| Begun::Ready),
            Ok(Served::All(Err(given))) => given,
            Ok(Served::Some(waiting)) => return Begun::Posts(waiting),
            Err(cause) => return failed(cause),
        };
    }
    match arrival::bring(&pe.node, pe.id, entry, nocopy, given) {
        Ok(Brought::Here) => Begun::Ready,
        Ok(Brought::Coming(coming)) => Begun::Coming(coming),
        Ok(Brought::Ended) => Begun::Failed,
        Err(cause) => failed(cause),
    }
}

/// As [`bring_in`], for a call that has found its chare. Out of line: calls without need not make room for it.
#[inline(never)]
pub(super) fn bring_in_found(pe: &Pe, call: &FoundCall, nocopy: &mut Nocopy) -> Begun {
    // It may have ended or left while the call was queued: what is brought in for it would wait for nobody.
    let Some(chare) = call.chare().filter(|chare| !chare.identity().is_gone()) else { return Begun::Lost };
    bring_in(pe, chare, (call.entry, 0), &call.arguments, nocopy)
}
