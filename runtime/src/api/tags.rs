//! Tags in the hands of a program: a buffer is posted under a tag, and a post method names the tag.
//!
//! In an entry, or a post method, of an element that may move (`#[chare(array, migrate)]`), tags are the element's own, and go with it.
//!
//! Tags are of buffers in the host's memory. A device buffer that comes later than the call, or from elsewhere, goes without one: the post
//! method keeps its [`Post`], and [`Post::post_device`] serves it when the buffer is there.

use crate::model::nocopy::{BufferMut, Element, Landing, MatchError, Post, PostError};
use crate::pe::Pe;
use crate::services::tags::{Scope, tags};

impl<T: Element> Post<T> {
    /// Receives into the buffer that is posted under `tag` on this PE by [`post_buffer`], before, now or later; by an element that may move,
    /// into one that the element has posted, wherever that was.
    ///
    /// # Errors
    /// The post itself, when another call waits under this tag, or when the buffer that waits there does not fit. A buffer that is too
    /// long comes back with the post, and the tag is free again.
    pub fn match_tag(self, tag: u64) -> Result<(), MatchError<T>> {
        Pe::current(|pe| tags(&pe.node).match_tag(Scope::here(pe), tag, self))
    }

    /// Receives into the buffer that is posted under `tag` of the node, by [`post_node_buffer`] on any of its PEs.
    ///
    /// # Errors
    /// As for [`Post::match_tag`].
    pub fn match_node_tag(self, tag: u64) -> Result<(), MatchError<T>> {
        Pe::current(|pe| tags(&pe.node).match_tag(Scope::Node, tag, self))
    }
}

/// Posts a buffer on this PE for the `#[nocopy(post)]` argument whose post method names the same tag: before it, inside it or
/// after it. One look-up; the transfer starts with the later of the two.
///
/// An element that may move posts for itself alone, on whichever PE the call meets it. While such a buffer waits, the element stays on its
/// node: memory that somebody is to write does not change its place.
///
/// A tag is outstanding until it is matched, and free again then. A posted buffer that is not wanted any more comes back by
/// [`cancel_buffer`].
///
/// ```
/// use chare::prelude::*;
///
/// struct Sink;
///
/// #[chare(group)]
/// impl Sink {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn land(&mut self, tag: u64, #[nocopy(post)] data: Posted<u32>, done: Callback<Vec<u32>>) {
///         assert_eq!(tag, 7);
///         done.send(data.into_vec());
///     }
///
///     #[post(land)]
///     fn post_land(&mut self, tag: &u64, data: Post<u32>, _done: &Callback<Vec<u32>>) {
///         data.match_tag(*tag).expect("one call at a time");
///     }
/// }
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     chare::post_buffer(7, vec![9u32; 5]).expect("the tag is free");
///     let (landed, done) = chare::future();
///     SinkProxy::create().on(PeId(0)).land(7, vec![1, 2, 3, 4, 5, 6], done);
///     assert_eq!(landed.await, [1, 2, 3, 4, 5]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Errors
/// The buffer itself, when another one is outstanding under this tag, or when a call waits there that the buffer does not fit.
pub fn post_buffer<T: Element>(tag: u64, landing: impl Into<Landing<T>>) -> Result<(), PostError<T>> {
    Pe::current(|pe| tags(&pe.node).post_buffer(Scope::here(pe), tag, landing.into()))
}

/// Posts a buffer for the whole node: a post method on any of its PEs may name the tag, by [`Post::match_node_tag`].
///
/// # Errors
/// As for [`post_buffer`].
pub fn post_node_buffer<T: Element>(tag: u64, landing: impl Into<Landing<T>>) -> Result<(), PostError<T>> {
    Pe::current(|pe| tags(&pe.node).post_buffer(Scope::Node, tag, landing.into()))
}

/// Takes back a buffer that was posted on this PE and has not been matched. `None` if there is none, or one of another element type.
///
/// ```
/// use chare::BufferMut;
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     chare::post_buffer(7, vec![1u8, 2]).expect("the tag is free");
///     let refused = chare::post_buffer(7, vec![3u8]).expect_err("it is not");
///     assert_eq!(refused.buffer[..], [3]);
///     let cancelled: BufferMut<u8> = chare::cancel_buffer(7).expect("nobody has matched it");
///     assert_eq!(cancelled[..], [1, 2]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
pub fn cancel_buffer<T: Element>(tag: u64) -> Option<BufferMut<T>> {
    Pe::current(|pe| tags(&pe.node).cancel(Scope::here(pe), tag))
}

/// Takes back a buffer that was posted for the node and has not been matched; see [`cancel_buffer`].
pub fn cancel_node_buffer<T: Element>(tag: u64) -> Option<BufferMut<T>> {
    Pe::current(|pe| tags(&pe.node).cancel(Scope::Node, tag))
}
