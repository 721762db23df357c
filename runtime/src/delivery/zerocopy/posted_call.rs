//! Posted call: waits until each of its posts has its buffer, or a tag under which the buffer comes.

use super::arrival;
use super::destination::Destination;
use crate::base::allowance::Purpose;
use crate::model::envelope::Call;
use crate::model::error::JobError;
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::{Few, Given, Nocopy, PostSink, PostSlot, Posts};
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
    pub(crate) fn open(
        node: &Arc<Node>,
        pe: PeId,
        entry: &'static EntryRegistration,
        nocopy: &Nocopy,
    ) -> (Arc<Self>, Posts) {
        let (mut offered, mut given) = (Few::new(), Few::new());
        // Pushed one by one: `collect` would reckon with many.
        for (position, kind) in entry.nocopy.iter().enumerate().filter(|(_, kind)| kind.is_posted()) {
            offered.push((nocopy.offered(position), kind.is_of_device()));
            given.push(None);
        }
        let missing = offered.len();
        let state = Mutex::new(State { given, missing, abandoned: false, call: None, kept_bytes: 0 });
        let waiting = Arc::new(Self { node: Arc::clone(node), pe, entry, offered, state });
        let mut slots = Few::new();
        for position in 0..missing {
            slots.push(PostSlot::new(Arc::clone(&waiting) as Arc<dyn PostSink>, position));
        }
        (waiting, Posts::new(slots))
    }

    /// The buffers, if the post method has given all.
    ///
    /// # Errors
    /// When it dropped a post, in words.
    pub(crate) fn take_given(&self) -> Result<Option<Few<Option<Given>>>, String> {
        let mut state = self.state.lock();
        if state.abandoned {
            return Err(ABANDONED.to_owned());
        }
        Ok((state.missing == 0).then(|| std::mem::take(&mut state.given)))
    }

    /// Takes the call in, to be delivered when all its buffers are there.
    pub(crate) fn keep(&self, destination: Destination, call: Call) {
        let mut state = self.state.lock();
        if state.abandoned {
            drop(state);
            return self.fail(ABANDONED.to_owned());
        }
        if state.missing > 0 {
            let bytes = kept_bytes(&call);
            if let Err(used_up) = self.node.allowance.take(Purpose::Posts, bytes) {
                drop(state);
                return self.fail(format!(
                    "it would wait for posted buffers, and {used_up}; post buffers for such calls earlier"
                ));
            }
            state.kept_bytes = bytes;
            self.node.posted_calls.enter(self.pe, self.entry);
        }
        state.call = Some((destination, call));
        let complete = self.take_complete(&mut state);
        drop(state);
        self.go_on(complete);
    }

    fn take_complete(&self, state: &mut State) -> Option<(Destination, Call, Few<Option<Given>>)> {
        if state.missing > 0 {
            return None;
        }
        let (destination, call) = self.take_call(state)?;
        Some((destination, call, std::mem::take(&mut state.given)))
    }

    /// Brings the arguments of a call into its buffers, if all are there, and delivers the call.
    fn go_on(&self, complete: Option<(Destination, Call, Few<Option<Given>>)>) {
        let Some((destination, call, given)) = complete else { return };
        match arrival::land(&self.node, &destination, call, given) {
            Ok(Some(call)) => destination.deliver(&self.node, call),
            Ok(None) => {}
            Err(cause) => self.fail(cause),
        }
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
    /// one that arrives after that, and finds its way or its end as such. While the post method still runs, [`PostedCall::take_given`]
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
        self.go_on(complete);
    }
}

/// About the number of bytes that a waiting call takes.
fn kept_bytes(call: &Call) -> u64 {
    let nocopy = call.nocopy.as_deref().map_or(0, Nocopy::kept_bytes);
    (size_of::<Call>() + call.arguments.encoded_bytes() + nocopy) as u64
}
