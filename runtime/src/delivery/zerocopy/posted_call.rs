//! Posted call: waits until each of its posts has its buffer, or a tag under which the buffer comes.

use super::arrival;
use super::destination::Destination;
use crate::base::allowance::Purpose;
use crate::model::envelope::Call;
use crate::model::error::JobError;
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::{Descriptor, Few, Given, Local, Nocopy, PostSink, PostSlot, Posts};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use crate::pe::Pe;
use parking_lot::Mutex;
use std::rc::Rc;
use std::sync::Arc;

/// A call that waits for the buffers of its posts.
pub(crate) struct PostedCall {
    node: Arc<Node>,
    pe: PeId,
    entry: &'static EntryRegistration,
    /// Bytes at the sender, and whether they are to land on a device, by position among the posted parameters.
    offered: Few<(usize, bool)>,
    state: Mutex<State>,
}

struct State {
    /// The buffers that were given, by position among the posted parameters.
    given: Few<Option<Given>>,
    missing: usize,
    /// Whether a post was dropped unused.
    abandoned: bool,
    /// The call and its destination; set when the post method has returned.
    call: Option<(Destination, Call)>,
    /// Bytes that the call takes of its node's allowance while it waits; 0 if it does not.
    kept_bytes: u64,
}

const ABANDONED: &str =
    "its post method left a `Post` without a buffer; call `Post::post` or `Post::match_tag`";

impl PostedCall {
    /// Opens a posted call for a call that is about to be handed to its post method on `pe`; returns it with the posts, which wait in it.
    pub(crate) fn open(node: &Arc<Node>, pe: PeId, call: &Call) -> (Arc<Self>, Posts) {
        let bytes: Few<usize> = match call.nocopy.as_deref() {
            Some(Nocopy::Leaving(leaving)) => leaving.iter().map(Local::bytes).collect(),
            Some(Nocopy::Described(descriptors)) => descriptors.iter().map(Descriptor::bytes).collect(),
            Some(Nocopy::Arrived(_)) | None => Few::new(),
        };
        let kinds = call.entry.nocopy.iter();
        let posted = kinds.zip(bytes).filter(|(kind, _)| kind.is_posted());
        let offered: Few<_> = posted.map(|(kind, bytes)| (bytes, kind.is_of_device())).collect();
        let given = offered.iter().map(|_| None).collect();
        let state =
            Mutex::new(State { given, missing: offered.len(), abandoned: false, call: None, kept_bytes: 0 });
        let waiting = Arc::new(Self { node: Arc::clone(node), pe, entry: call.entry, offered, state });
        let slot = |position| PostSlot::new(Arc::clone(&waiting) as Arc<dyn PostSink>, position);
        let slots = (0..waiting.offered.len()).map(slot).collect();
        (waiting, Posts::new(slots))
    }

    /// Takes the call in after its post method. Gives the call back at once, with its buffers, if all buffers are there.
    ///
    /// # Errors
    /// When the post method dropped a post, or when the calls that wait take too much memory, in words.
    pub(crate) fn enter(
        &self,
        destination: Destination,
        call: Call,
    ) -> Result<Option<(Destination, Call, Few<Given>)>, String> {
        let mut state = self.state.lock();
        if state.abandoned {
            return Err(ABANDONED.to_owned());
        }
        if state.missing > 0 {
            let bytes = kept_bytes(&call);
            self.node.allowance.take(Purpose::Posts, bytes).map_err(|used_up| {
                format!(
                    "it would wait for posted buffers, and {used_up}; post buffers for such calls earlier"
                )
            })?;
            state.kept_bytes = bytes;
            self.node.posted_calls.enter(self.pe, self.entry);
        }
        state.call = Some((destination, call));
        Ok(self.take_complete(&mut state))
    }

    fn take_complete(&self, state: &mut State) -> Option<(Destination, Call, Few<Given>)> {
        if state.missing > 0 {
            return None;
        }
        let (destination, call) = self.take_call(state)?;
        Some((destination, call, std::mem::take(&mut state.given).into_iter().flatten().collect()))
    }

    fn take_call(&self, state: &mut State) -> Option<(Destination, Call)> {
        let kept_bytes = std::mem::take(&mut state.kept_bytes);
        if kept_bytes > 0 {
            self.node.allowance.give_back(Purpose::Posts, kept_bytes);
            self.node.posted_calls.leave(self.pe, self.entry);
        }
        state.call.take()
    }

    /// Whether a chare of this PE was destroyed. Only its PE can tell.
    fn is_gone(&self, target: Target) -> bool {
        let is_gone = |pe: &Rc<Pe>| {
            pe.id == self.pe && pe.places.try_borrow().is_ok_and(|places| places.look_up(target).is_none())
        };
        Pe::try_current(is_gone).unwrap_or(false)
    }

    fn fail(&self, cause: String) {
        let Self { node, pe, entry, .. } = self;
        let what = format!("{}::{}", entry.chare, entry.name);
        node.fail(JobError::Delivery { what, pe: *pe, node: node.id, cause });
    }
}

impl PostSink for PostedCall {
    fn offered(&self, position: usize) -> usize {
        self.offered[position].0
    }

    fn is_of_device(&self, position: usize) -> bool {
        self.offered[position].1
    }

    /// Ends the job, because the call cannot run; unless the chare that kept the post was destroyed: then the call has come too late, as
    /// one that arrives after that, and finds its way or its end as such. While the post method still runs, [`PostedCall::enter`]
    /// returns the error instead.
    fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        let parked = self.take_call(&mut state);
        let given = std::mem::take(&mut state.given);
        drop(state);
        // Buffers of the user, whose drops may run any code.
        drop(given);
        match parked {
            Some((destination, call)) if self.is_gone(call.target) => destination.deliver(&self.node, call),
            Some(_) => self.fail(ABANDONED.to_owned()),
            None => {}
        }
    }

    fn give(&self, position: usize, given: Given) {
        let complete = {
            let mut state = self.state.lock();
            state.given[position] = Some(given);
            state.missing -= 1;
            self.take_complete(&mut state)
        };
        let Some((destination, call, given)) = complete else { return };
        match arrival::land(&self.node, destination.clone(), call, given) {
            Ok(Some(call)) => destination.deliver(&self.node, call),
            Ok(None) => {}
            Err(cause) => self.fail(cause),
        }
    }
}

/// About the number of bytes that a waiting call takes.
fn kept_bytes(call: &Call) -> u64 {
    let nocopy = call.nocopy.as_deref().map_or(0, Nocopy::kept_bytes);
    (size_of::<Call>() + call.arguments.encoded_bytes() + nocopy) as u64
}
