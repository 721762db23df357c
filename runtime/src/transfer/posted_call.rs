//! Posted call: waits until each of its posts has its buffer, or a tag under which the buffer comes.

use super::arrival;
use super::arrival::Destination;
use crate::base::allowance::Purpose;
use crate::base::panics;
use crate::model::envelope::Call;
use crate::model::error::JobError;
use crate::model::nocopy::{Few, Given, Nocopy, PostSink, PostSlot, Posts};
use crate::model::registry::EntryRegistration;
use crate::node::Node;
use chare_lrts::spin_lock::SpinMutex;
use std::cell::Cell;
use std::sync::Arc;

/// A call that waits for the buffers of its posts.
#[derive(Default)]
pub(crate) struct PostedCall {
    /// Bytes at the sender, and whether they are to land on a device, by position among the posted parameters.
    offered: Few<(usize, bool)>,
    state: SpinMutex<State>,
}

#[derive(Default)]
struct State {
    /// The buffers that were given, by position among the posted parameters.
    given: Few<Option<Given>>,
    missing: usize,
    /// Whether a post was dropped unused.
    abandoned: bool,
    /// Set when the post method has returned and buffers are missing.
    parked: Option<Parked>,
}

/// The call itself, while it waits.
struct Parked {
    node: Arc<Node>,
    destination: Destination,
    call: Call,
    /// Bytes that it takes of its node's allowance; 0 if it does not.
    kept_bytes: u64,
}

thread_local! {
    /// One that is over and has forgotten its call, for the next: nearly all post methods give their buffers at once, and then an
    /// allocation for each is saved.
    static SPARE: Cell<Option<Arc<PostedCall>>> = const { Cell::new(None) };
}

const ABANDONED: &str =
    "its post method left a `Post` without a buffer; call `Post::post` or `Post::match_tag`";

/// How many posts of a call have their buffers when its post method has returned.
pub(crate) enum Served<R> {
    /// All: what was made of the buffers.
    All(R),
    /// Some are to be given later.
    Some(Arc<PostedCall>),
}

impl PostedCall {
    /// Opens a posted call for a call that is about to be handed to its post method; returns it with the posts, which wait in it.
    pub(crate) fn open(entry: &EntryRegistration, nocopy: &Nocopy) -> (Arc<Self>, Posts) {
        let mut waiting = SPARE.take().unwrap_or_default();
        let Self { offered, state } = Arc::get_mut(&mut waiting).expect("nobody holds what is over");
        let state = state.get_mut();
        // Pushed one by one: `collect` would reckon with many.
        for (position, kind) in entry.nocopy.iter().enumerate().filter(|(_, kind)| kind.is_posted()) {
            offered.push((nocopy.offered(position), kind.is_of_device()));
            state.given.push(None);
        }
        let missing = offered.len();
        state.missing = missing;
        let mut slots = Few::new();
        for position in 0..missing {
            slots.push(PostSlot::new(Arc::clone(&waiting) as Arc<dyn PostSink>, position));
        }
        (waiting, Posts::new(slots))
    }

    /// Looks at the posts when the post method has returned: `all` gets the buffers, by position among the posted parameters, if it has given
    /// all.
    ///
    /// # Errors
    /// When it dropped a post, in words.
    pub(crate) fn serve<R>(
        mut self: Arc<Self>,
        all: impl FnOnce(&mut Few<Option<Given>>) -> R,
    ) -> Result<Served<R>, String> {
        // Where no post is left, nobody else has a handle.
        let Some(Self { offered, state }) = Arc::get_mut(&mut self) else { return self.serve_shared(all) };
        match state.get_mut() {
            State { abandoned: false, missing: 0, given, .. } => {
                let made = all(given);
                given.clear();
                offered.clear();
                SPARE.set(Some(self));
                Ok(Served::All(made))
            }
            // Nobody is left who could give what is missing.
            _ => Err(ABANDONED.to_owned()),
        }
    }

    /// The same while others have posts, or have just given the last buffer.
    fn serve_shared<R>(
        self: Arc<Self>,
        all: impl FnOnce(&mut Few<Option<Given>>) -> R,
    ) -> Result<Served<R>, String> {
        let mut state = self.state.lock();
        if state.abandoned {
            return Err(ABANDONED.to_owned());
        }
        if state.missing > 0 {
            drop(state);
            return Ok(Served::Some(self));
        }
        let mut given = std::mem::take(&mut state.given);
        drop(state);
        Ok(Served::All(all(&mut given)))
    }

    /// Takes the call in, to be delivered when all its buffers are there.
    pub(crate) fn keep(&self, node: &Arc<Node>, destination: Destination, call: Call) {
        let mut parked = Parked { node: Arc::clone(node), destination, call, kept_bytes: 0 };
        let mut state = self.state.lock();
        if state.abandoned {
            drop(state);
            return parked.refuse(ABANDONED.to_owned());
        }
        if state.missing > 0 {
            let bytes = kept_bytes(&parked.call);
            if let Err(used_up) = node.allowance.take(Purpose::Posts, bytes) {
                drop(state);
                return parked.fail(format!(
                    "it would wait for posted buffers, and {used_up}; post buffers for such calls earlier"
                ));
            }
            parked.kept_bytes = bytes;
            node.posted_calls.enter(parked.destination.pe, parked.call.entry);
        }
        state.parked = Some(parked);
        let complete = state.take_complete();
        drop(state);
        go_on(complete);
    }
}

/// A call with its buffers.
type Complete = (Parked, Few<Option<Given>>);

impl State {
    fn take_complete(&mut self) -> Option<Complete> {
        if self.missing > 0 {
            return None;
        }
        let parked = self.take_parked()?;
        Some((parked, std::mem::take(&mut self.given)))
    }

    fn take_parked(&mut self) -> Option<Parked> {
        let mut parked = self.parked.take()?;
        let kept_bytes = std::mem::take(&mut parked.kept_bytes);
        if kept_bytes > 0 {
            parked.node.allowance.give_back(Purpose::Posts, kept_bytes);
            parked.node.posted_calls.leave(parked.destination.pe, parked.call.entry);
        }
        Some(parked)
    }
}

impl Parked {
    fn refuse(self, flaw: String) {
        self.destination.refuse(&self.node, self.call, flaw);
    }

    fn fail(&self, cause: String) {
        fail(&self.node, &self.destination, self.call.entry, cause);
    }
}

fn fail(node: &Node, destination: &Destination, entry: &EntryRegistration, cause: String) {
    let what = format!("{}::{}", entry.chare, entry.name);
    node.fail(JobError::Delivery { what, pe: destination.pe, node: node.id, cause });
}

/// Brings the arguments of a call into its buffers, if all are there, and delivers the call.
fn go_on(complete: Option<Complete>) {
    let Some((Parked { node, destination, call, .. }, given)) = complete else { return };
    let entry = call.entry;
    match arrival::land(&node, &destination, call, given) {
        Ok(Some(call)) => destination.deliver(&node, call),
        Ok(None) => {}
        Err(cause) => fail(&node, &destination, entry, cause),
    }
}

impl PostSink for PostedCall {
    fn offered(&self, position: usize) -> usize {
        self.offered[position].0
    }

    fn is_of_device(&self, position: usize) -> bool {
        self.offered[position].1
    }

    fn is_abandoned(&self) -> bool {
        self.state.lock().abandoned
    }

    /// Hands the call, which cannot run, to its PE, which alone can tell whether its chare is gone: then it has ended with that; else the
    /// job ends. While the post method still runs, [`PostedCall::serve`] returns the error instead.
    fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        let parked = state.take_parked();
        let given = std::mem::take(&mut state.given);
        drop(state);
        // Buffers of the user, whose drops may run any code.
        drop(given);
        if let Some(parked) = parked {
            // A panic of a PE that drops one has words of its own, which come first: the PE runs no other work then, unless somebody has
            // caught the panic.
            let panic = std::thread::panicking().then(panics::unwinding);
            let panic = panic.map(|panic| format!("; a panic dropped it: {panic}"));
            parked.refuse(format!("{ABANDONED}{}", panic.unwrap_or_default()));
        }
    }

    fn give(&self, position: usize, given: Given) {
        let complete = {
            let mut state = self.state.lock();
            if state.abandoned {
                // The call goes on without this, or not at all. A buffer of the user, whose drop may run any code.
                drop(state);
                return drop(given);
            }
            state.given[position] = Some(given);
            state.missing -= 1;
            state.take_complete()
        };
        go_on(complete);
    }
}

/// About the number of bytes that a waiting call takes.
fn kept_bytes(call: &Call) -> u64 {
    let nocopy = call.nocopy.as_deref().map_or(0, Nocopy::kept_bytes);
    (size_of::<Call>() + call.arguments.encoded_bytes() + nocopy) as u64
}
