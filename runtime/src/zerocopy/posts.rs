//! Posted receives: which buffers a call's `#[nocopy(post)]` arguments land in.
//!
//! 1. A post method receives a [`Post`] for each posted parameter: a token that is used up by giving it a buffer or by naming
//!    a tag under which the buffer comes. It may be kept and used later; dropping it ends the job, for its call could never
//!    run.
//! 2. The call waits in its [`Waiting`] until every token has its buffer. Whoever gives the last one starts the transfers.
//! 3. All the while the call counts as in flight, so there is no quiescence before it has run.

use super::arguments::NocopyParameter;
use super::buffer::{BufferMut, Element};
use super::receive::{self, Destination, Given};
use super::{Descriptor, Nocopy};
use crate::call::Call;
use crate::error::JobError;
use crate::ids::PeId;
use crate::node::Node;
use crate::registry::{EntryRegistration, NocopyKind};
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use thiserror::Error;

/// A buffer to receive into, and how much of it is to be filled: the whole, or its first elements.
///
/// ```
/// # use chare::Landing;
/// let whole: Landing<f64> = vec![0.0; 100].into();
/// let part = Landing::first(10, vec![0.0; 100]);
/// # drop((whole, part));
/// ```
pub struct Landing<T: Element> {
    buffer: BufferMut<T>,
    len: usize,
}

impl<T: Element> Landing<T> {
    /// The first `len` elements of a buffer; its tail stays untouched.
    ///
    /// # Panics
    /// If the buffer is shorter than that.
    pub fn first(len: usize, buffer: impl Into<BufferMut<T>>) -> Self {
        let buffer = buffer.into();
        assert!(len <= buffer.len(), "the first {len} elements of a buffer of {}", buffer.len());
        Self { buffer, len }
    }

    /// How many elements are to be filled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole buffer.
    pub fn into_buffer(self) -> BufferMut<T> {
        self.buffer
    }

    pub(super) fn erase(self) -> Given {
        Given { bytes: self.len * size_of::<T>(), memory: self.buffer.into_memory() }
    }
}

impl<T: Element, B: Into<BufferMut<T>>> From<B> for Landing<T> {
    fn from(buffer: B) -> Self {
        let buffer = buffer.into();
        Self { len: buffer.len(), buffer }
    }
}

/// Why a buffer and a post did not meet.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PostRefusal {
    /// The buffer wants more than there is.
    #[error(
        "the posted buffer wants {wanted} elements, the sender offers {offered}; post `Landing::first` of at most that many"
    )]
    TooLong {
        /// Elements to be filled.
        wanted: usize,
        /// Elements at the sender.
        offered: usize,
    },
    /// The tag is outstanding already: a buffer or a call waits under it for its counterpart.
    #[error("tag {tag} is outstanding already; use another, or wait until it is matched")]
    TagTaken {
        /// Which tag.
        tag: u64,
    },
    /// The buffer's elements are not those of the parameter.
    #[error("a buffer of `{posted}` for a parameter of `{expected}` elements")]
    OtherElements {
        /// The buffer's elements.
        posted: &'static str,
        /// The parameter's.
        expected: &'static str,
    },
}

/// A [`Post`] was not served. It comes back unused, and with it the buffer that did not fit, if there was one.
///
/// Dropping the post ends the job, as its call could never run: serve it another way, or panic with this error.
#[derive(Error)]
#[error("{cause}")]
pub struct MatchError<T: Element> {
    /// The post, unused.
    pub post: Post<T>,
    /// The buffer, whole; after a failed match its tag is free again.
    pub buffer: Option<BufferMut<T>>,
    /// Why.
    #[source]
    pub cause: PostRefusal,
}

impl<T: Element> fmt::Debug for MatchError<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Receives one `#[nocopy(post)]` argument: give it the buffer that the argument is to land in, or name the tag under which that
/// buffer comes.
///
/// It is a token, used up by either, so nothing lands twice. It may leave the post method and be used later, on any PE of
/// the node; the entry runs when all posts of its call have been served and their transfers are over. Dropping it unused ends
/// the job.
#[must_use = "a post that is dropped unused ends the job: call `post` or `match_tag`"]
pub struct Post<T: Element> {
    slot: Slot,
    elements: PhantomData<T>,
}

impl<T: Element> Post<T> {
    pub(super) fn from_slot(slot: Slot) -> Self {
        Self { slot, elements: PhantomData }
    }

    pub(super) fn into_slot(self) -> Slot {
        self.slot
    }

    /// How many elements the sender offers.
    pub fn len(&self) -> usize {
        self.slot.bytes() / size_of::<T>()
    }

    /// Whether the sender offers none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives the buffer: a [`BufferMut`] or a vector to be filled as a whole, or the [`Landing::first`] elements of one. It may be
    /// shorter than what the sender offers; sender and entry both learn the length.
    ///
    /// # Errors
    /// A longer one comes back, with the post.
    pub fn post(self, landing: impl Into<Landing<T>>) -> Result<(), MatchError<T>> {
        let landing = landing.into();
        if let Err(cause) = fits(landing.len, self.len()) {
            return Err(MatchError { post: self, buffer: Some(landing.buffer), cause });
        }
        self.slot.fill(landing.erase());
        Ok(())
    }
}

impl<T: Element> fmt::Debug for Post<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Post({} elements)", self.len())
    }
}

/// # Errors
/// When a buffer wants more than there is.
pub(super) fn fits(wanted: usize, offered: usize) -> Result<(), PostRefusal> {
    if wanted > offered { Err(PostRefusal::TooLong { wanted, offered }) } else { Ok(()) }
}

/// The posts of a call, taken in declaration order by generated code.
pub struct Posts(std::vec::IntoIter<Slot>);

impl Posts {
    /// The next posted parameter's post.
    pub fn take<P: NocopyParameter>(&mut self) -> Post<P::Element> {
        Post::from_slot(self.0.next().expect("a call has as many posts as its entry has posted parameters"))
    }
}

impl fmt::Debug for Posts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Posts({} left)", self.0.len())
    }
}

/// A post whose element type is forgotten.
pub(crate) struct Slot {
    /// `None` once it is used.
    waiting: Option<Arc<Waiting>>,
    /// Among the posted parameters.
    position: usize,
}

impl Slot {
    /// What the sender offers.
    pub(super) fn bytes(&self) -> usize {
        self.waiting.as_ref().map_or(0, |waiting| waiting.offered[self.position])
    }

    pub(super) fn fill(mut self, given: Given) {
        if let Some(waiting) = self.waiting.take() {
            waiting.give(self.position, given);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // A panic has a message of its own, which must come first.
        if let Some(waiting) = self.waiting.take()
            && !std::thread::panicking()
        {
            waiting.abandon();
        }
    }
}

/// A call that waits for its posts.
pub(crate) struct Waiting {
    node: Arc<Node>,
    pe: PeId,
    entry: &'static EntryRegistration,
    /// Bytes at the sender, by position among the posted parameters.
    offered: Vec<usize>,
    state: Mutex<State>,
}

struct State {
    /// By position among the posted parameters.
    given: Vec<Option<Given>>,
    missing: usize,
    /// Whether a post was dropped unused.
    abandoned: bool,
    /// Set when the post method has returned.
    call: Option<(Destination, Call)>,
    /// What the call makes its node keep, while it is there.
    kept_bytes: u64,
}

const ABANDONED: &str =
    "its post method left a `Post` without a buffer; call `Post::post` or `Post::match_tag`";

const OVERFULL: &str = "the calls that wait for posted buffers would take more than a quarter of this host's memory; post buffers for them earlier";

impl Waiting {
    /// What the posts of a call, about to be handed to its post method on `pe`, will wait in.
    pub(crate) fn open(node: &Arc<Node>, pe: PeId, call: &Call) -> (Arc<Self>, Posts) {
        let bytes: Vec<usize> = match call.nocopy.as_deref() {
            Some(Nocopy::Leaving(leaving)) => leaving.iter().map(|one| one.memory.len()).collect(),
            Some(Nocopy::Described(descriptors)) => descriptors.iter().map(Descriptor::bytes).collect(),
            Some(Nocopy::Arrived(_)) | None => Vec::new(),
        };
        let kinds = call.entry.nocopy.iter();
        let posted = kinds.zip(bytes).filter(|(kind, _)| **kind == NocopyKind::Posted);
        let offered: Vec<usize> = posted.map(|(_, bytes)| bytes).collect();
        let given = offered.iter().map(|_| None).collect();
        let state =
            Mutex::new(State { given, missing: offered.len(), abandoned: false, call: None, kept_bytes: 0 });
        let waiting = Arc::new(Self { node: Arc::clone(node), pe, entry: call.entry, offered, state });
        let slot = |position| Slot { waiting: Some(Arc::clone(&waiting)), position };
        let slots: Vec<Slot> = (0..waiting.offered.len()).map(slot).collect();
        (waiting, Posts(slots.into_iter()))
    }

    /// Takes the call in after its post method. Gives it back at once, with its buffers, if all are there.
    ///
    /// # Errors
    /// When the post method dropped a post, or calls that wait take too much memory, in words.
    pub(crate) fn enter(
        &self,
        destination: Destination,
        call: Call,
    ) -> Result<Option<(Destination, Call, Vec<Given>)>, String> {
        let mut state = self.state.lock();
        if state.abandoned {
            return Err(ABANDONED.to_owned());
        }
        if state.missing > 0 {
            let bytes = kept_bytes(&call);
            if !self.node.awaiting_posts.take(bytes) {
                return Err(OVERFULL.to_owned());
            }
            state.kept_bytes = bytes;
        }
        state.call = Some((destination, call));
        Ok(self.take_complete(&mut state))
    }

    fn take_complete(&self, state: &mut State) -> Option<(Destination, Call, Vec<Given>)> {
        if state.missing > 0 {
            return None;
        }
        let (destination, call) = self.take_call(state)?;
        Some((destination, call, std::mem::take(&mut state.given).into_iter().flatten().collect()))
    }

    fn take_call(&self, state: &mut State) -> Option<(Destination, Call)> {
        self.node.awaiting_posts.give_back(std::mem::take(&mut state.kept_bytes));
        state.call.take()
    }

    /// A post was dropped unused: the call cannot run. While its post method runs, whoever runs it is told.
    fn abandon(&self) {
        let mut state = self.state.lock();
        state.abandoned = true;
        let parked = self.take_call(&mut state);
        drop(state);
        if parked.is_some() {
            self.fail(ABANDONED.to_owned());
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
        match receive::land(&self.node, destination.clone(), call, given) {
            Ok(Some(call)) => destination.deliver(&self.node, call),
            Ok(None) => {}
            Err(cause) => self.fail(cause),
        }
    }

    fn fail(&self, cause: String) {
        let Self { node, pe, entry, .. } = self;
        let what = format!("{}::{}", entry.chare, entry.name);
        node.fail(JobError::Delivery { what, pe: *pe, node: node.id, cause });
    }
}

/// About how much memory a call takes that waits.
fn kept_bytes(call: &Call) -> u64 {
    let nocopy = call.nocopy.as_deref().map_or(0, Nocopy::kept_bytes);
    (size_of::<Call>() + call.arguments.encoded_bytes() + nocopy) as u64
}
