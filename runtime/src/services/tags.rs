//! Tags of posted buffers: a posted buffer and the call that it is for meet under a tag, whichever comes first.
//!
//! 1. A tag belongs to a PE, to a node, or to an element that may move, and names at most one buffer or one call that waits for its counterpart.
//!    Those of an element are on its node: they are where the element is on each PE of the process, and keep it from leaving that.
//! 2. A call that goes with its chare, which kept another post of it, leaves its tags.
//! 3. When the counterpart comes, the two match and the tag is free again. A counterpart that does not fit is handed back to its caller,
//!    and the waiting buffer or call stays; only a waiting buffer that is too long for the call that names its tag is handed back, too.
//!
//! The idea is Charm++'s `CkMatchBuffer` and `CkPostBuffer` and their node twins (manual section "Zero Copy Post API"); here a
//! live tag is an error with the buffer in it, not an abort.

use crate::model::ids::{PeId, ServiceId, Target};
use crate::model::nocopy::{
    BufferMut, Element, ElementType, Landing, MatchError, Post, PostError, PostRefusal, PostSlot,
    PostedMemory, fits,
};
use crate::node::{Node, NodeService};
use crate::pe::{ChareEvent, Pe, Service, let_go};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

pub(crate) const ID: ServiceId = ServiceId(6);

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        state: || Box::new(Tags::default()),
        clear: |node| tags(node).clear(),
        ..NodeService::NONE
    },
    event: Some(|pe, event| {
        if let ChareEvent::Gone { chare, .. } = event
            && may_move(pe, chare.target)
        {
            tags(&pe.node).forget(chare.target);
        }
    }),
    ..Service::named(ID, "tags of posted buffers")
};

/// Whether a chare is an element that may move.
fn may_move(pe: &Pe, target: Target) -> bool {
    let Target::Member(id, _) = target else { return false };
    pe.places.borrow().collection(id).is_some_and(|collection| collection.info.may_move())
}

pub(crate) fn tags(node: &Node) -> &Tags {
    node.state(ID)
}

/// The owner of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    Pe(PeId),
    Node,
    /// An element that may move, wherever it is on the node.
    Element(Target),
}

impl Scope {
    /// That of tags of a PE, in what runs there: an element that may move has its own.
    pub(crate) fn here(pe: &Pe) -> Self {
        let running = pe.running();
        let element = running.identity().map(|identity| identity.target);
        element.filter(|target| may_move(pe, *target)).map_or(Self::Pe(pe.id), Self::Element)
    }
}

/// A buffer or a call that waits under a tag.
enum Outstanding {
    Buffer { given: PostedMemory, elements: ElementType },
    Post { slot: PostSlot, elements: ElementType },
}

/// The outstanding tags of a node and its PEs.
#[derive(Default)]
pub(crate) struct Tags(Mutex<OutstandingTags>);

type OutstandingTags = FxHashMap<(Scope, u64), Outstanding>;

/// Frees a tag whose call has gone.
fn leave_if_abandoned(outstanding: &mut OutstandingTags, tag: (Scope, u64)) {
    if let Entry::Occupied(waiting) = outstanding.entry(tag)
        && matches!(waiting.get(), Outstanding::Post { slot, .. } if slot.is_abandoned())
    {
        waiting.remove();
    }
}

impl Tags {
    /// Drops the waiting buffers and calls, when the job is over: they hold on to their node.
    fn clear(&self) {
        let outstanding = std::mem::take(&mut *self.0.lock());
        drop(outstanding);
    }

    /// Whether buffers of an element wait for their calls, which keeps it on its node.
    pub(crate) fn keep(&self, element: Target) -> bool {
        self.0.lock().keys().any(|(scope, _)| *scope == Scope::Element(element))
    }

    /// Drops what waits for an element that is gone.
    fn forget(&self, element: Target) {
        let is_its = |(scope, _): &(Scope, u64)| *scope == Scope::Element(element);
        let gone: Vec<_> = self.0.lock().extract_if(|tag, _| is_its(tag)).collect();
        // Unlocked: the memory may be the user's.
        drop(gone);
    }

    /// What waits under the tags of elements of the node, in words.
    pub(crate) fn describe_of_elements(&self) -> Vec<String> {
        let mut elements: Vec<Target> = {
            let outstanding = self.0.lock();
            let element = |(scope, _): &(Scope, u64)| match scope {
                Scope::Element(element) => Some(*element),
                _ => None,
            };
            outstanding.keys().filter_map(element).collect()
        };
        elements.sort_unstable();
        elements.dedup();
        elements.into_iter().flat_map(|element| self.describe(Scope::Element(element))).collect()
    }

    /// What waits under the tags of `scope`, in words.
    pub(crate) fn describe(&self, scope: Scope) -> Vec<String> {
        let outstanding = self.0.lock();
        let of_scope = outstanding.iter().filter(|((of, _), _)| *of == scope);
        of_scope
            .map(|((_, tag), waiting)| match waiting {
                Outstanding::Buffer { elements, .. } => {
                    format!("tag {tag}: a posted buffer of {} waits for a call", elements.name)
                }
                Outstanding::Post { elements, .. } => {
                    format!("tag {tag}: a call waits for a buffer of {} to be posted", elements.name)
                }
            })
            .collect()
    }

    pub(crate) fn post_buffer<T: Element>(
        &self,
        scope: Scope,
        tag: u64,
        landing: Landing<T>,
    ) -> Result<(), PostError<T>> {
        let elements = ElementType::of::<T>();
        let refuse = |landing: Landing<T>, cause| Err(PostError { buffer: landing.into_buffer(), cause });
        let mut outstanding = self.0.lock();
        leave_if_abandoned(&mut outstanding, (scope, tag));
        let slot = match outstanding.entry((scope, tag)) {
            Entry::Vacant(free) => {
                free.insert(Outstanding::Buffer { given: landing.into_posted(), elements });
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
            slot.fill(landing.into_posted().into());
        }
        Ok(())
    }

    pub(crate) fn match_tag<T: Element>(
        &self,
        scope: Scope,
        tag: u64,
        post: Post<T>,
    ) -> Result<(), MatchError<T>> {
        let elements = ElementType::of::<T>();
        let refuse = |post, buffer, cause| Err(MatchError { post, buffer, cause });
        if let Err(cause) = post.check_memory(false) {
            return refuse(post, None, cause);
        }
        let mut outstanding = self.0.lock();
        leave_if_abandoned(&mut outstanding, (scope, tag));
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
                let_go();
                match fits(given.bytes / size_of::<T>(), post.len()) {
                    Ok(()) => {
                        post.into_slot().fill(given.into());
                        Ok(())
                    }
                    Err(cause) => refuse(post, BufferMut::from_memory(given.memory).ok(), cause),
                }
            }
        }
    }

    pub(crate) fn cancel<T: Element>(&self, scope: Scope, tag: u64) -> Option<BufferMut<T>> {
        let mut outstanding = self.0.lock();
        let Entry::Occupied(waiting) = outstanding.entry((scope, tag)) else { return None };
        match waiting.get() {
            Outstanding::Buffer { elements, .. } if elements.id == ElementType::of::<T>().id => {}
            _ => return None,
        }
        let Outstanding::Buffer { given, .. } = waiting.remove() else { unreachable!("just looked at") };
        let_go();
        BufferMut::from_memory(given.memory).ok()
    }
}
