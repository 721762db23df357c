//! Posted receives: the buffers in which a call's `#[nocopy(post)]` arguments land.
//!
//! 1. A post method receives a [`Post`] for each posted parameter: a token that is used up by giving it a buffer or by naming
//!    a tag under which the buffer comes. The post may be kept and used later; dropping it ends the job, because its call could never
//!    run.
//! 2. The call waits as a [`PostSink`] until every token has its buffer. The thread that gives the last buffer starts the transfers.
//! 3. While it waits the call counts as in flight, so there is no quiescence before the call has run.

use super::arrived::NocopyParameter;
use super::buffer::{BufferMut, Element};
use super::descriptor::Few;
use super::device::DeviceLanding;
use super::landing::{Given, Landing};
use super::parts::PartMut;
use super::several::SeveralMut;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use thiserror::Error;

/// The reason that a buffer and a post did not meet.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum PostRefusal {
    /// The buffer wants more elements than the sender offers.
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
        /// The tag.
        tag: u64,
    },
    /// The buffer's elements are not those of the parameter.
    #[error("a buffer of `{posted}` for a parameter of `{expected}` elements")]
    OtherElements {
        /// The buffer's elements.
        posted: &'static str,
        /// The parameter's elements.
        expected: &'static str,
    },
    /// The buffer lies in the memory of the host, and the parameter on a device; or the other way round.
    #[error(
        "a buffer of {posted} for a parameter of {expected}; {expected} takes `Post::{method}`",
        posted = memory_of(!of_device), expected = memory_of(*of_device), method = if *of_device { "post_device" } else { "post" }
    )]
    OtherMemory {
        /// Whether the parameter is a `DevicePosted`.
        of_device: bool,
    },
}

fn memory_of(of_device: bool) -> &'static str {
    if of_device { "a device" } else { "the host" }
}

/// The error of a [`Post`] that was not served. The post comes back unused, with the buffer that did not fit, if there was one.
///
/// Dropping the post ends the job, because its call could never run: serve it another way, or panic with this error.
#[derive(Error)]
#[error("{cause}")]
pub struct MatchError<T: Element> {
    /// The post, unused.
    pub post: Post<T>,
    /// The buffer, whole; after a failed match its tag is free again.
    pub buffer: Option<BufferMut<T>>,
    /// The reason.
    #[source]
    pub cause: PostRefusal,
}

impl<T: Element> fmt::Debug for MatchError<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What was not posted: a part of a buffer ([`PartMut`]) or several buffers ([`SeveralMut`]). It comes back, and the post unused, with
/// which to go on as for [`MatchError`].
#[derive(Error)]
#[error("{cause}")]
pub struct NotPosted<T: Element, G> {
    /// The post, unused.
    pub post: Post<T>,
    /// What was given.
    pub given: G,
    /// The reason.
    #[source]
    pub cause: PostRefusal,
}

impl<T: Element, G> fmt::Debug for NotPosted<T, G> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// A buffer that was not posted; it comes back.
#[derive(Error)]
#[error("{cause}")]
pub struct PostError<T: Element> {
    /// The buffer, whole.
    pub buffer: BufferMut<T>,
    /// The cause.
    #[source]
    pub cause: PostRefusal,
}

impl<T: Element> fmt::Debug for PostError<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The receive of one `#[nocopy(post)]` argument: give it the buffer in which the argument is to land, or name the tag under which that
/// buffer comes.
///
/// A post is a token, used up by either, so nothing lands twice. It may leave the post method and be used later, on any PE of
/// the node; the entry runs when all posts of its call have been served and their transfers are over. Dropping a post unused ends
/// the job; but with a chare that kept it and is destroyed, it goes in peace: the call then counts as one that comes after that, so in a
/// dynamic array it waits for the next element of that index.
#[must_use = "a post that is dropped unused ends the job: call `post` or `match_tag`"]
pub struct Post<T: Element> {
    slot: PostSlot,
    elements: PhantomData<T>,
}

impl<T: Element> Post<T> {
    pub(crate) fn from_slot(slot: PostSlot) -> Self {
        Self { slot, elements: PhantomData }
    }

    /// # Errors
    /// When the argument is to land in the other kind of memory.
    pub(crate) fn check_memory(&self, of_device: bool) -> Result<(), PostRefusal> {
        self.slot.check_memory(of_device)
    }

    pub(crate) fn into_slot(self) -> PostSlot {
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

    /// Gives the buffer: a [`BufferMut`] or a vector to be filled as a whole, or the [`Landing::first`] elements of one. The buffer may be
    /// shorter than the sender's; sender and entry both learn the length.
    ///
    /// # Errors
    /// A buffer that is longer than the sender's comes back, with the post; and one for a parameter on a device.
    pub fn post(self, landing: impl Into<Landing<T>>) -> Result<(), MatchError<T>> {
        let landing = landing.into();
        if let Err(cause) = self.takes(landing.len(), false) {
            return Err(MatchError { post: self, buffer: Some(landing.into_buffer()), cause });
        }
        self.slot.fill(landing.into_posted().into());
        Ok(())
    }

    /// Gives the device buffer in which a `#[nocopy(post)]` parameter that is a [`DevicePosted`](crate::DevicePosted) lands: of the device
    /// of the PE ([`mine`](crate::devices::mine)), whole, its first elements, or what a layout selects.
    ///
    /// # Errors
    /// A landing that is longer than what the sender offers comes back, with the post; and one for a parameter in the host's memory.
    #[expect(clippy::result_large_err, reason = "what was given comes back as it is")]
    pub fn post_device<B: Element>(
        self,
        landing: DeviceLanding<B, T>,
    ) -> Result<(), NotPosted<T, DeviceLanding<B, T>>> {
        if let Err(cause) = self.takes(landing.len(), true) {
            return Err(NotPosted { post: self, given: landing, cause });
        }
        self.slot.fill(landing.into_posted().into());
        Ok(())
    }

    /// # Errors
    /// When a buffer of so many elements, on a device or not, is not what the parameter takes.
    fn takes(&self, wanted: usize, of_device: bool) -> Result<(), PostRefusal> {
        self.check_memory(of_device)?;
        fits(wanted, self.len())
    }

    /// Gives a part of a buffer, which is filled in place as a whole, while other parts of the buffer are sent, filled or read. The entry
    /// takes it by [`Posted::into_part`](crate::Posted::into_part).
    ///
    /// # Errors
    /// A part that is longer than the sender's argument comes back, with the post.
    pub fn post_part(self, part: PartMut<T>) -> Result<(), NotPosted<T, PartMut<T>>> {
        if let Err(cause) = self.takes(part.len(), false) {
            return Err(NotPosted { post: self, given: part, cause });
        }
        self.slot.fill(part.into_posted().into());
        Ok(())
    }

    /// Gives several buffers, filled one after the other. The entry takes them by
    /// [`Posted::into_several`](crate::Posted::into_several).
    ///
    /// # Errors
    /// Buffers that want more elements together than the sender offers come back, with the post.
    ///
    /// # Panics
    /// If the buffers' layouts have more operations together than one layout may have.
    pub fn post_several(self, several: SeveralMut<T>) -> Result<(), NotPosted<T, SeveralMut<T>>> {
        if let Err(cause) = self.takes(several.len(), false) {
            return Err(NotPosted { post: self, given: several, cause });
        }
        self.slot.fill(several.into_posted().into());
        Ok(())
    }
}

impl<T: Element> fmt::Debug for Post<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Post({} elements)", self.len())
    }
}

/// # Errors
/// When a buffer wants more elements than the sender offers.
pub(crate) fn fits(wanted: usize, offered: usize) -> Result<(), PostRefusal> {
    if wanted > offered { Err(PostRefusal::TooLong { wanted, offered }) } else { Ok(()) }
}

/// The posts of a call, taken in declaration order by generated code.
pub struct Posts(smallvec::IntoIter<[PostSlot; 1]>);

impl Posts {
    /// The posts of a call, in declaration order.
    pub(crate) fn new(slots: Few<PostSlot>) -> Self {
        Self(slots.into_iter())
    }

    /// The post of the next posted parameter.
    pub fn take<P: NocopyParameter>(&mut self) -> Post<P::Element> {
        Post::from_slot(self.0.next().expect("a call has as many posts as its entry has posted parameters"))
    }
}

impl fmt::Debug for Posts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Posts({} left)", self.0.len())
    }
}

/// A call with posts: it waits until all of them have their buffers.
pub(crate) trait PostSink: Send + Sync {
    /// The bytes that the sender offers for the argument at this position among the posted ones.
    fn offered(&self, position: usize) -> usize;

    /// Whether the argument at this position is to land on a device.
    fn is_of_device(&self, position: usize) -> bool;

    /// Whether another post of the call was dropped unused, so that this one waits for nothing.
    fn is_abandoned(&self) -> bool;

    /// Takes the buffer for the argument at this position, once.
    fn give(&self, position: usize, given: Given);

    /// Notes that a post was dropped unused.
    fn abandon(&self);
}

/// A post whose element type is forgotten.
pub(crate) struct PostSlot {
    /// The call of the post; `None` once the post is used.
    call: Option<Arc<dyn PostSink>>,
    /// The position among the posted parameters.
    position: usize,
}

impl PostSlot {
    pub(crate) fn new(call: Arc<dyn PostSink>, position: usize) -> Self {
        Self { call: Some(call), position }
    }

    /// The bytes that the sender offers.
    pub(crate) fn bytes(&self) -> usize {
        self.call.as_ref().map_or(0, |call| call.offered(self.position))
    }

    /// # Errors
    /// When the argument is to land in the other kind of memory.
    pub(crate) fn check_memory(&self, of_device: bool) -> Result<(), PostRefusal> {
        let wanted = self.call.as_ref().is_some_and(|call| call.is_of_device(self.position));
        if wanted == of_device { Ok(()) } else { Err(PostRefusal::OtherMemory { of_device: wanted }) }
    }

    /// Whether its call does not wait for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.is_abandoned())
    }

    pub(crate) fn fill(mut self, given: Given) {
        if let Some(call) = self.call.take() {
            call.give(self.position, given);
        }
    }
}

impl Drop for PostSlot {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.abandon();
        }
    }
}
