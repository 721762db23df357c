//! Gathered views: what all members show each other in a round of an exchange, read where it lies.

use crate::model::nocopy::{Buffer, Completion, Element, ReceivedView};
use crate::pe::Pe;
use crate::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

/// What each member of an exchange shows, by number: views of the members' own memory within a process and, where it can be mapped, on a
/// host; elsewhere of one copy that the members of a host share. See [`Exchange::show_all`](crate::Exchange::show_all).
///
/// Keep it as long as you like; a member's buffer is free when nobody holds its view any more. Sent on to another process, it is copied.
pub struct Gathered<T: Element>(Vec<ReceivedView<T>>);

impl<T: Element> Gathered<T> {
    /// How many members show something: all.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the members show, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &ReceivedView<T>> {
        self.0.iter()
    }
}

impl<T: Element> Index<usize> for Gathered<T> {
    type Output = ReceivedView<T>;

    /// What the member with this number shows.
    ///
    /// # Panics
    /// If there is none.
    fn index(&self, member: usize) -> &ReceivedView<T> {
        &self.0[member]
    }
}

impl Gathered<u8> {
    /// The same views of other elements.
    ///
    /// # Errors
    /// A member that shows no whole number of them, in words: the members of an exchange have equal elements.
    fn typed<T: Element>(self) -> Result<Gathered<T>, String> {
        let typed = |(member, view): (usize, ReceivedView<u8>)| {
            view.typed().map_err(|cause| format!("member {member} of an exchange shows {cause}"))
        };
        self.0.into_iter().enumerate().map(typed).collect::<Result<_, _>>().map(Gathered)
    }
}

impl<T: Element> Clone for Gathered<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Element> Serialize for Gathered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|view| Buffer::from(view.to_vec())))
    }
}

impl<'de, T: Element> Deserialize<'de> for Gathered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let buffers = Vec::<Buffer<T>>::deserialize(deserializer)?;
        Ok(Self(buffers.into_iter().map(ReceivedView::of).collect()))
    }
}

impl<T: Element> fmt::Debug for Gathered<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Gathered").field(&self.0).finish()
    }
}

/// A callback on this PE that takes views of bytes, and hands them on as what they are.
pub(super) fn of_bytes<T: Element>(done: Completion<Gathered<T>>) -> Callback<Gathered<u8>> {
    let finish = super::filling::finishing(done, |shown| shown);
    Callback::once(|shown: Gathered<u8>| match shown.typed() {
        Ok(shown) => finish(shown),
        // Not a panic, which might be outlived: the others would wait.
        Err(cause) => Pe::current(|pe| pe.fail("an exchange".to_owned(), cause)),
    })
}

/// A round at the seat of a member who is shown what others have.
#[derive(Default)]
pub(super) struct Showing {
    /// By member.
    shown: BTreeMap<u64, ReceivedView<u8>>,
    /// How many members there are, and who wants to know what they show, once the member has begun the round.
    awaited: Option<(usize, Callback<Gathered<u8>>)>,
}

impl Showing {
    /// Notes that the member has begun the round. Returns whether it had not.
    pub(super) fn begin(&mut self, members: usize, done: Callback<Gathered<u8>>) -> bool {
        self.awaited.replace((members, done)).is_none()
    }

    /// Adds what a member shows. Returns whether it had shown nothing.
    pub(super) fn add(&mut self, from: u64, part: ReceivedView<u8>) -> bool {
        self.shown.insert(from, part).is_none()
    }

    /// Hands on what all show, if all has come. Returns whether it has.
    pub(super) fn finish_if_complete(&mut self) -> bool {
        let come = self.shown.len();
        let Some((_, done)) = self.awaited.take_if(|(members, _)| *members == come) else { return false };
        done.send(Gathered(std::mem::take(&mut self.shown).into_values().collect()));
        true
    }
}
