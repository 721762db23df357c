//! Call options: how a call is queued at its destination, what it waits for there, and what those whom it comes to get of its buffers.

use crate::base::deadline::Deadline;
use crate::model::callback::{Callback, ErasedCallback};
use crate::model::dealing::{Dealing, PackedParts};
use crate::model::ids::{AudienceId, BroadcastId, CollectionId, MessageId};
use crate::model::priority::{BitVector, Priority};
use crate::model::travel::{Journey, Sought};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The lane of a call in its PE's queue: which queued calls it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lane {
    /// Calls of smaller priority, and calls of the same priority that came before.
    #[default]
    ByPriority,
    /// Expedited calls that came before.
    Expedited,
    /// Immediate calls that came before.
    Immediate,
    /// All other calls.
    WhenIdle,
}

/// The options of a call: how it is queued at its destination, and what it waits for there.
///
/// ```
/// use chare::{CallOptions, Priority};
/// let urgent = CallOptions::new().priority(Priority::integer(-10));
/// let newest_first = CallOptions::new().last_in_first_out();
/// let deepest_first = CallOptions::new().priority(Priority::long(1 << 40)).last_in_first_out();
/// # let _ = (urgent, newest_first, deepest_first);
/// ```
///
/// Charm++'s queueing strategies are written like this:
///
/// | there | here |
/// |---|---|
/// | `FIFO`, `LIFO` | `new()`, `new().last_in_first_out()` |
/// | `IFIFO`, `ILIFO` | the same with `.priority(Priority::integer(..))` |
/// | `LFIFO`, `LLIFO` | the same with `.priority(Priority::long(..))` |
/// | `BFIFO`, `BLIFO` | the same with `.priority(Priority::bits(..))` |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOptions {
    // Every message carries these: a number, a flag and a lane in one word, and a pointer that is hardly ever there.
    integer: i32,
    pub(crate) last_in_first_out: bool,
    pub(crate) lane: Lane,
    rare: Option<Arc<Rare>>,
}

/// The options that few calls have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Rare {
    /// The words of the priority, instead of the integer.
    bits: Option<BitVector>,
    /// The collections whose members the call is to come after.
    after: Vec<CollectionId>,
    /// The broadcast that the message carries out, or in whose entries it was sent.
    within: Option<BroadcastId>,
    heard: Option<Heard>,
    /// What the home of the call's element has sent the call in search of.
    sought: Option<Sought>,
    /// The journey of the element that is to hear the copy of a broadcast that the message is.
    copy: Option<Journey>,
    /// The message's name in timelines.
    message: Option<MessageName>,
    dealt: Option<Arc<Dealt>>,
    /// The time after which the call need not begin any more.
    due: Option<Deadline>,
    /// The encoding of the element's index, where the call may create the element and its target has a digest of the index only.
    index: Option<Box<[u8]>>,
}

/// How each nocopy argument of a call of many is dealt out, if it is.
type Dealt = [Option<Dealing>];

/// The name of a message in timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MessageName {
    One(MessageId),
    /// Of a message to all PEs, for each of which its copy has the name that follows from the first.
    OfEach(MessageId),
}

/// The question how many members hear a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Heard {
    /// As the caller asks it.
    Asked(ErasedCallback),
    /// As the PEs that the broadcast comes to are asked it.
    Counted(AudienceId),
}

impl CallOptions {
    /// Default priority, first in first out.
    pub fn new() -> Self {
        Self::default()
    }

    /// The options of an entry's calls when the caller gives none.
    pub(crate) const fn of_entry(priority: i32, lane: Lane) -> Self {
        Self { integer: priority, last_in_first_out: false, lane, rare: None }
    }

    /// Lets the call run before calls of larger priority.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.integer = priority.integer;
        if self.rare.is_some() || priority.bits.is_some() {
            self.change_rare(|rare| rare.bits = priority.bits);
        }
        self
    }

    /// Lets the call wait until a collection is on the PE that it has come to.
    pub(crate) fn after_collection(mut self, collection: CollectionId) -> Self {
        self.change_rare(|rare| rare.after.push(collection));
        self
    }

    /// Notes that the message carries out a broadcast, or is sent in its entries.
    pub(crate) fn part_of(mut self, broadcast: BroadcastId) -> Self {
        self.change_rare(|rare| rare.within = Some(broadcast));
        self
    }

    /// Forgets the broadcast, in a collection where it makes no difference.
    pub(crate) fn apart(mut self) -> Self {
        if self.within().is_some() {
            self.change_rare(|rare| rare.within = None);
        }
        self
    }

    /// The broadcast that the message carries out, or in whose entries it was sent.
    #[inline]
    pub(crate) fn within(&self) -> Option<BroadcastId> {
        self.rare.as_ref()?.within
    }

    /// Notes, or forgets, what the home of the call's element sends the call in search of.
    pub(crate) fn seeking(mut self, sought: Option<Sought>) -> Self {
        if self.sought() != sought {
            self.change_rare(|rare| rare.sought = sought);
        }
        self
    }

    /// What the home of the call's element has sent the call in search of, if it has.
    #[inline]
    pub(crate) fn sought(&self) -> Option<Sought> {
        self.rare.as_ref()?.sought
    }

    /// Notes that the message is a copy of a broadcast, for the element on a journey.
    pub(crate) fn copy_for(mut self, journey: Journey) -> Self {
        self.change_rare(|rare| rare.copy = Some(journey));
        self
    }

    /// The journey of the element that is to hear the copy of a broadcast that the message is, if it is one.
    #[inline]
    pub(crate) fn copy(&self) -> Option<Journey> {
        self.rare.as_ref()?.copy
    }

    /// The options of the call that a copy of a broadcast is, and the audience for which it is counted, if it is.
    pub(crate) fn take_copy(mut self) -> (Self, Option<AudienceId>) {
        let audience = self.take_audience();
        self.change_rare(|rare| rare.copy = None);
        (self, audience)
    }

    /// Lets a callback have the number of members that a call of all members of a collection has come to: 0 where the collection has no
    /// members, so that nobody will contribute to a reduction which the call is to begin. Costs a message from each PE to the caller.
    ///
    /// The number is complete when the call has run on every PE, or waits there in the members' queue. A call of one chare, of a section
    /// or a creation with this option ends the job with an error.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{ArrayOptions, CallOptions};
    ///
    /// struct Worker;
    ///
    /// #[chare(array)]
    /// impl Worker {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     fn work(&mut self, done: Callback<u64>) {
    ///         self.contribute(sum(self.this_index()), done);
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(1, 2).run(|| async {
    ///     let nobody = WorkerProxy::create(ArrayOptions::empty());
    ///     let (total, done) = chare::future();
    ///     let heard = Callback::once(move |members: u64| {
    ///         if members == 0 {
    ///             done.send(0); // the sum over nobody
    ///         }
    ///     });
    ///     nobody.with(CallOptions::new().heard(heard)).work(done);
    ///     assert_eq!(total.await, 0);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    pub fn heard(mut self, callback: Callback<u64>) -> Self {
        self.change_rare(|rare| rare.heard = Some(Heard::Asked(callback.erase())));
        self
    }

    /// Asks the PEs that the broadcast comes to, instead of what the caller asked.
    pub(crate) fn counted(mut self, audience: AudienceId) -> Self {
        self.change_rare(|rare| rare.heard = Some(Heard::Counted(audience)));
        self
    }

    /// The question how many members hear the call, if it is one.
    #[inline]
    pub(crate) fn question(&self) -> Option<Heard> {
        self.rare.as_ref()?.heard
    }

    /// Takes the audience that the message is to be counted for, if there is one.
    pub(crate) fn take_audience(&mut self) -> Option<AudienceId> {
        match self.question() {
            Some(Heard::Counted(audience)) => {
                self.change_rare(|rare| rare.heard = None);
                Some(audience)
            }
            _ => None,
        }
    }

    /// The name of the message in timelines.
    #[inline]
    pub(crate) fn message_name(&self) -> Option<MessageName> {
        self.rare.as_ref()?.message
    }

    /// Default options of a message that may have a name in timelines.
    pub(crate) fn named(name: Option<MessageName>) -> Self {
        let mut options = Self::new();
        options.set_message_name(name);
        options
    }

    /// Takes the message's name in timelines away.
    pub(crate) fn forget_message_name(&mut self) {
        if self.message_name().is_some() {
            self.change_rare(|rare| rare.message = None);
        }
    }

    /// Names the message in timelines, if there is a name.
    pub(crate) fn set_message_name(&mut self, name: Option<MessageName>) {
        if name.is_some() {
            self.change_rare(|rare| rare.message = name);
        }
    }

    /// Lets the call be late from this time on.
    pub(crate) fn due(mut self, deadline: Deadline) -> Self {
        self.change_rare(|rare| rare.due = Some(deadline));
        self
    }

    /// The time from which on the call is late, if there is one.
    #[inline]
    pub(crate) fn due_at(&self) -> Option<Deadline> {
        self.rare.as_ref()?.due
    }

    /// Takes along the encoding of the index of the element that the call may create.
    pub(crate) fn for_index(mut self, index: Box<[u8]>) -> Self {
        self.change_rare(|rare| rare.index = Some(index));
        self
    }

    /// The encoding of the index of the element that the call may create, where a digest stands for it.
    pub(crate) fn index(&self) -> Option<&[u8]> {
        self.rare.as_ref()?.index.as_deref()
    }

    /// # Errors
    /// When what is called by these options has a deadline and cannot be late, in words.
    #[inline]
    pub(crate) fn check_not_due(&self) -> Result<(), String> {
        match self.due_at() {
            None => Ok(()),
            Some(_) => Err("`CallOptions::deadline` is for a call of one chare, which need not run when nobody waits for it any more; this is none: leave it out".to_owned()),
        }
    }

    /// Deals nocopy arguments out to those whom the call comes to, if any is to be.
    pub(crate) fn deal(mut self, dealt: Option<Arc<Dealt>>) -> Self {
        if dealt.is_some() {
            self.change_rare(|rare| rare.dealt = dealt);
        }
        self
    }

    /// The options of the call on a node where dealt arguments, in order, consist of these parts; `None`: of all.
    pub(crate) fn of_parts<'a>(mut self, parts: impl Iterator<Item = Option<&'a PackedParts>>) -> Self {
        let Some(dealt) = self.dealt() else { return self };
        let here = |(dealing, packed): (&Option<Dealing>, Option<&PackedParts>)| {
            let dealing = dealing.as_ref()?;
            Some(Dealing { packed: packed.cloned(), ..dealing.clone() })
        };
        let dealt: Arc<Dealt> = dealt.iter().zip(parts).map(here).collect();
        self.change_rare(|rare| rare.dealt = Some(dealt));
        self
    }

    /// How nocopy arguments are dealt out, if any is.
    #[inline]
    pub(crate) fn dealt(&self) -> Option<&Dealt> {
        self.rare.as_ref()?.dealt.as_deref()
    }

    /// The options of the call for one of those whom it comes to.
    pub(crate) fn for_one(&self) -> Self {
        let mut options = self.clone();
        if self.dealt().is_some() {
            options.change_rare(|rare| rare.dealt = None);
        }
        options
    }

    /// # Errors
    /// When somebody asks how many members hear a call that is not one of all members of a collection, in words.
    #[inline]
    pub(crate) fn check_not_counted(&self) -> Result<(), String> {
        match self.question() {
            None => Ok(()),
            Some(_) => Err("`CallOptions::heard` counts whom a call of all members of a collection comes to; this is none: leave it out".to_owned()),
        }
    }

    fn change_rare(&mut self, change: impl FnOnce(&mut Rare)) {
        let mut rare = self.rare.take().map_or_else(Rare::default, Arc::unwrap_or_clone);
        change(&mut rare);
        self.rare = (rare != Rare::default()).then(|| Arc::new(rare));
    }

    /// Lets the call run before calls of the same priority that are queued already.
    pub fn last_in_first_out(mut self) -> Self {
        self.last_in_first_out = true;
        self
    }

    /// Lets the call run before all calls that are queued by priority.
    pub fn expedited(mut self) -> Self {
        self.lane = Lane::Expedited;
        self
    }

    /// Lets the call run before all queued calls, expedited ones included: as soon as the entry that runs is over, or waits, and the PE
    /// has seen the call. A PE with much to do looks at messages from others after at most 64 of its calls, and takes all then that have
    /// a lane or a priority, however many others wait before them. On its way to another node such a call goes before all that waits there
    /// in this process, for room in the network or for credit; it arrives behind what the network itself holds.
    pub fn immediate(mut self) -> Self {
        self.lane = Lane::Immediate;
        self
    }

    /// Whether a call with these options is queued behind all waiting calls.
    #[inline]
    pub(crate) fn is_default(&self) -> bool {
        self.integer == 0
            && !self.last_in_first_out
            && matches!(self.lane, Lane::ByPriority)
            && self.rare.is_none()
    }

    /// Whether a message with these options is to run before those with the default ones that are queued already.
    #[inline]
    pub(crate) fn is_urgent(&self) -> bool {
        match self.lane {
            Lane::Immediate | Lane::Expedited => true,
            Lane::WhenIdle => false,
            Lane::ByPriority => self.ranks() && self.rank() < Priority::DEFAULT,
        }
    }

    /// Whether the place of a message with these options among those that wait is another than the last.
    #[inline]
    pub(crate) fn is_sorted(&self) -> bool {
        match self.lane {
            Lane::Immediate | Lane::Expedited => true,
            Lane::WhenIdle => false,
            Lane::ByPriority => self.last_in_first_out || self.ranks(),
        }
    }

    /// Whether the options name a priority other than the default.
    #[inline]
    pub(crate) fn ranks(&self) -> bool {
        self.integer != 0 || self.bits().is_some()
    }

    /// The priority.
    pub(crate) fn rank(&self) -> Priority {
        Priority { integer: self.integer, bits: self.bits().cloned() }
    }

    fn bits(&self) -> Option<&BitVector> {
        self.rare.as_ref()?.bits.as_ref()
    }

    /// The collections that the call is to come after.
    #[inline]
    pub(crate) fn after_collections(&self) -> &[CollectionId] {
        self.rare.as_ref().map_or(&[], |rare| &rare.after)
    }
}
