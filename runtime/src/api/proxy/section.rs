//! Section handles: the part of a generated proxy that reaches the members of a section.

use super::element::ElementHandle;
use super::handle::{ForMany, equal_by, take_charge_for_many};
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::ids::{SectionId, Target};
use crate::model::nocopy::Outgoing;
use crate::model::registry::{self, Chare, EntryMethod, EntryRegistration};
use crate::pe::Pe;
use crate::services::section;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// A handle that reaches the members of a section.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SectionHandle<C> {
    id: SectionId,
    options: Option<CallOptions>,
    chare: PhantomData<fn() -> C>,
}

impl<C: Chare> SectionHandle<C> {
    pub(super) fn of_targets(members: Vec<Target>, within: Option<SectionId>) -> Self {
        Self { id: form(members, within), options: None, chare: PhantomData }
    }

    /// Forms a section. One message to each PE that is home to a member.
    pub fn form(members: impl IntoIterator<Item = ElementHandle<C>>) -> Self {
        Self::of_targets(members.into_iter().map(|member| member.target).collect(), None)
    }

    /// Forms a section of members of this one, as by [`SectionHandle::form`].
    pub fn section(&self, members: impl IntoIterator<Item = ElementHandle<C>>) -> Self {
        Self::of_targets(members.into_iter().map(|member| member.target).collect(), Some(self.id))
    }

    /// Calls back when the section is formed: when every PE that is home to a member has given the member its place. Members that are
    /// still to be inserted are not awaited, nor are those that were destroyed. Two messages for each such PE.
    pub fn formed(&self, callback: Callback<()>) {
        tell_when_formed(self.id, callback);
    }

    /// Ends the section; its members stay. One message to each PE that is home to a member.
    pub fn dissolve(&self) {
        dissolve(self.id);
    }

    pub(crate) fn id(&self) -> SectionId {
        self.id
    }

    pub(super) fn options(&self) -> Option<&CallOptions> {
        self.options.as_ref()
    }

    /// The same section; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
    }

    /// Calls an entry of all members. One message to the PE that formed the section, from there one to each node that is home to a
    /// member, down a tree; encoded once on its way down; cloned for each member.
    pub fn multicast<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments) {
        self.send::<E>(arguments, ForMany::default());
    }

    /// Calls an entry with nocopy parameters of all members. Large buffers go the same way, once into each node that cannot read the
    /// memory of the node before it in place, and are shared by the node's members; small buffers travel with the message.
    pub fn multicast_nocopy<E: EntryMethod<Chare = C>>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        self.send::<E>(arguments, take_charge_for_many(nocopy));
    }

    fn send<E: EntryMethod<Chare = C>>(&self, arguments: E::Arguments, nocopy: ForMany) {
        call_some(self.id, self.options.as_ref(), registry::entry::<E>(), arguments, nocopy);
    }

    /// A callback that calls an entry of all members.
    pub fn callback<E: EntryMethod<Chare = C>>(&self) -> Callback<E::Arguments> {
        Callback::new(section_goal(self.id, registry::entry::<E>()))
    }
}

/// The goal of a callback that calls an entry of all members.
pub(super) fn section_goal(SectionId { creator, serial }: SectionId, entry: &EntryRegistration) -> Goal {
    Goal::Many { service: section::ID, many: (creator, serial), entry: entry.id }
}

/// Forms a section; its members must belong to the section `within`, if there is one.
pub(super) fn form(members: Vec<Target>, within: Option<SectionId>) -> SectionId {
    Pe::current(|pe| section::form(pe, members, within))
}

/// Lets a callback have the news that a section is formed.
pub(super) fn tell_when_formed(id: SectionId, callback: Callback<()>) {
    Pe::current(|pe| section::tell_when_formed(pe, id, callback.erase()));
}

/// Ends a section.
pub(super) fn dissolve(id: SectionId) {
    Pe::current(|pe| section::dissolve(pe, id));
}

/// Calls an entry of all members.
pub(super) fn call_some<A: Message>(
    section: SectionId,
    options: Option<&CallOptions>,
    entry: &'static EntryRegistration,
    arguments: A,
    nocopy: ForMany,
) {
    let ForMany { nocopy, dealt } = nocopy;
    let options = options.unwrap_or(&entry.options).clone().deal(dealt);
    Pe::current(|pe| section::call_given(pe, options, (section, entry, Arguments::new(arguments)), nocopy));
}

equal_by!(id of SectionHandle<C>);

impl<C> Clone for SectionHandle<C> {
    fn clone(&self) -> Self {
        Self { id: self.id, options: self.options.clone(), chare: PhantomData }
    }
}

impl<C: Chare> std::fmt::Debug for SectionHandle<C> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.id, C::NAME)
    }
}
