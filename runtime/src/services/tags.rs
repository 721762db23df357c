//! Tags of posted buffers: a posted buffer and the call that it is for meet under a tag, whichever comes first.
//!
//! 1. A tag belongs to a PE or to a node, and names at most one buffer or one call that waits for its counterpart.
//! 2. When the counterpart comes, the two match and the tag is free again. A counterpart that does not fit is handed back to its caller,
//!    and the waiting buffer or call stays; only a waiting buffer that is too long for the call that names its tag is handed back, too.
//!
//! The idea is Charm++'s `CkMatchBuffer` and `CkPostBuffer` and their node twins (manual section "Zero Copy Post API"); here a
//! live tag is an error with the buffer in it, not an abort.

use crate::model::ids::{PeId, ServiceId};
use crate::model::nocopy::{
    BufferMut, Element, Landing, MatchError, Post, PostRefusal, PostSlot, PostedMemory, fits,
};
use crate::node::{Node, NodeService};
use crate::pe::{Pe, Service};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::any::TypeId;
use std::collections::hash_map::Entry;
use std::fmt;
use thiserror::Error;

pub(crate) const ID: ServiceId = ServiceId(6);

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        state: || Box::new(Tags::default()),
        clear: |node| tags(node).clear(),
        ..NodeService::NONE
    },
    ..Service::named(ID, "tags of posted buffers")
};

fn tags(node: &Node) -> &Tags {
    node.state(ID)
}

/// The owner of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    Pe(PeId),
    Node,
}

/// An element type, told apart from others and named to humans.
#[derive(Clone, Copy)]
struct ElementType {
    id: TypeId,
    name: &'static str,
}

impl ElementType {
    fn of<T: Element>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }
}

/// A buffer or a call that waits under a tag.
enum Outstanding {
    Buffer { given: PostedMemory, elements: ElementType },
    Post { slot: PostSlot, elements: ElementType },
}

/// The outstanding tags of a node and its PEs.
#[derive(Default)]
struct Tags(Mutex<FxHashMap<(Scope, u64), Outstanding>>);

impl Tags {
    /// Drops the waiting buffers and calls, when the job is over: they hold on to their node.
    fn clear(&self) {
        let outstanding = std::mem::take(&mut *self.0.lock());
        drop(outstanding);
    }

    fn post_buffer<T: Element>(
        &self,
        scope: Scope,
        tag: u64,
        landing: Landing<T>,
    ) -> Result<(), PostError<T>> {
        let elements = ElementType::of::<T>();
        let refuse = |landing: Landing<T>, cause| Err(PostError { buffer: landing.into_buffer(), cause });
        let mut outstanding = self.0.lock();
        let slot = match outstanding.entry((scope, tag)) {
            Entry::Vacant(free) => {
                free.insert(Outstanding::Buffer { given: landing.erase(), elements });
                return Ok(());
            }
            Entry::Occupied(waiting) => match waiting.get() {
                Outstanding::Buffer { .. } => return refuse(landing, PostRefusal::TagTaken { tag }),
                Outstanding::Post { elements: expected, .. } if expected.id != elements.id => {
                    let cause = PostRefusal::OtherElements { posted: elements.name, expected: expected.name };
                    return refuse(landing, cause);
                }
                Outstanding::Post { slot, .. } => match fits(landing.len(), slot.bytes() / size_of::<T>()) {
                    Err(cause) => return refuse(landing, cause),
                    Ok(()) => waiting.remove(),
                },
            },
        };
        // Unlocked: the call may start here.
        drop(outstanding);
        if let Outstanding::Post { slot, .. } = slot {
            slot.fill(landing.erase());
        }
        Ok(())
    }

    fn match_tag<T: Element>(&self, scope: Scope, tag: u64, post: Post<T>) -> Result<(), MatchError<T>> {
        let elements = ElementType::of::<T>();
        let refuse = |post, buffer, cause| Err(MatchError { post, buffer, cause });
        let mut outstanding = self.0.lock();
        let waiting = match outstanding.entry((scope, tag)) {
            Entry::Vacant(free) => {
                free.insert(Outstanding::Post { slot: post.into_slot(), elements });
                return Ok(());
            }
            Entry::Occupied(waiting) => waiting,
        };
        match waiting.get() {
            Outstanding::Post { .. } => refuse(post, None, PostRefusal::TagTaken { tag }),
            Outstanding::Buffer { elements: posted, .. } if posted.id != elements.id => {
                let cause = PostRefusal::OtherElements { posted: posted.name, expected: elements.name };
                refuse(post, None, cause)
            }
            Outstanding::Buffer { .. } => {
                let Outstanding::Buffer { given, .. } = waiting.remove() else {
                    unreachable!("just looked at")
                };
                // Unlocked: the call may start here.
                drop(outstanding);
                match fits(given.bytes / size_of::<T>(), post.len()) {
                    Ok(()) => {
                        post.into_slot().fill(given);
                        Ok(())
                    }
                    Err(cause) => refuse(post, BufferMut::from_memory(given.memory).ok(), cause),
                }
            }
        }
    }

    fn cancel<T: Element>(&self, scope: Scope, tag: u64) -> Option<BufferMut<T>> {
        let mut outstanding = self.0.lock();
        let Entry::Occupied(waiting) = outstanding.entry((scope, tag)) else { return None };
        match waiting.get() {
            Outstanding::Buffer { elements, .. } if elements.id == TypeId::of::<T>() => {}
            _ => return None,
        }
        let Outstanding::Buffer { given, .. } = waiting.remove() else { unreachable!("just looked at") };
        BufferMut::from_memory(given.memory).ok()
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

impl<T: Element> Post<T> {
    /// Receives into the buffer that is posted under `tag` on this PE by [`post_buffer`], before, now or later.
    ///
    /// # Errors
    /// The post itself, when another call waits under this tag, or when the buffer that waits there does not fit. A buffer that is too
    /// long comes back with the post, and the tag is free again.
    pub fn match_tag(self, tag: u64) -> Result<(), MatchError<T>> {
        Pe::current(|pe| tags(&pe.node).match_tag(Scope::Pe(pe.id), tag, self))
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
    Pe::current(|pe| tags(&pe.node).post_buffer(Scope::Pe(pe.id), tag, landing.into()))
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
    Pe::current(|pe| tags(&pe.node).cancel(Scope::Pe(pe.id), tag))
}

/// Takes back a buffer that was posted for the node and has not been matched; see [`cancel_buffer`].
pub fn cancel_node_buffer<T: Element>(tag: u64) -> Option<BufferMut<T>> {
    Pe::current(|pe| tags(&pe.node).cancel(Scope::Node, tag))
}
