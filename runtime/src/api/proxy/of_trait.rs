//! Trait handles: the part of a generated trait proxy that reaches one chare, a whole collection or a section.

use super::collection::{CollectionHandle, call_all, collection_goal};
use super::element::ElementHandle;
use super::handle::{ForMany, equal_by, take_charge, take_charge_for_many};
use super::section::{SectionHandle, call_some, dissolve, form, section_goal, tell_when_formed};
use crate::delivery::outbox;
use crate::model::call_options::CallOptions;
use crate::model::callback::{Callback, Goal};
use crate::model::ids::{CollectionId, SectionId, Target};
use crate::model::index::ArrayIndex;
use crate::model::nocopy::{Nocopy, Outgoing};
use crate::model::registry::{Chare, TraitEntry, trait_entry};
use crate::pe::Pe;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// A handle that reaches one chare that implements a trait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraitHandle {
    target: Target,
    options: Option<CallOptions>,
}

impl TraitHandle {
    /// The trait handle of this chare.
    pub fn of<C: Chare>(chare: &ElementHandle<C>) -> Self {
        Self { target: chare.target(), options: chare.options().cloned() }
    }

    /// The same chare; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
    }

    /// Calls an entry. One message.
    pub fn call<E: TraitEntry>(&self, arguments: E::Arguments) {
        self.send::<E>(arguments, None);
    }

    /// Calls an entry with nocopy parameters, in declaration order. One message; the buffers do not travel with it
    /// unless they are small.
    pub fn call_nocopy<E: TraitEntry>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        self.send::<E>(arguments, Some(Box::new(Nocopy::Leaving(take_charge(nocopy)))));
    }

    fn send<E: TraitEntry>(&self, arguments: E::Arguments, nocopy: Option<Box<Nocopy>>) {
        let entry = trait_entry::<E>();
        let options = self.options.as_ref().unwrap_or(&entry.options);
        Pe::current(|pe| {
            outbox::call(pe, options, (&self.target, entry), arguments, nocopy);
        });
    }

    /// A callback that calls an entry.
    pub fn callback<E: TraitEntry>(&self) -> Callback<E::Arguments> {
        Callback::new(Goal::Call { target: self.target, entry: trait_entry::<E>().id })
    }
}

equal_by!(target of TraitHandle);

/// A handle that reaches all members of a collection whose chares implement a trait; `I` is the type of their indices.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TraitCollectionHandle<I> {
    id: CollectionId,
    options: Option<CallOptions>,
    index: PhantomData<fn(I)>,
}

impl<I: ArrayIndex> TraitCollectionHandle<I> {
    /// The trait handle of this collection.
    pub fn of<C: Chare<Index = I>>(collection: &CollectionHandle<C>) -> Self {
        Self { id: collection.id(), options: collection.options().cloned(), index: PhantomData }
    }

    /// The same collection; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
    }

    /// The handle of a member.
    pub fn at(&self, index: &I) -> TraitHandle {
        TraitHandle { target: Target::Member(self.id, index.pack()), options: self.options.clone() }
    }

    /// Calls an entry of all members; costs what [`CollectionHandle::broadcast`] does.
    pub fn broadcast<E: TraitEntry>(&self, arguments: E::Arguments) {
        call_all(self.id, self.options.as_ref(), trait_entry::<E>(), arguments, ForMany::default());
    }

    /// Calls an entry with nocopy parameters of all members; costs what [`CollectionHandle::broadcast_nocopy`] does.
    pub fn broadcast_nocopy<E: TraitEntry>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        let nocopy = take_charge_for_many(nocopy);
        call_all(self.id, self.options.as_ref(), trait_entry::<E>(), arguments, nocopy);
    }

    /// A callback that calls an entry of all members.
    pub fn callback<E: TraitEntry>(&self) -> Callback<E::Arguments> {
        Callback::new(collection_goal(self.id, trait_entry::<E>()))
    }
}

equal_by!(id of TraitCollectionHandle<I>);

impl<I> Clone for TraitCollectionHandle<I> {
    fn clone(&self) -> Self {
        Self { id: self.id, options: self.options.clone(), index: PhantomData }
    }
}

impl<I> std::fmt::Debug for TraitCollectionHandle<I> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "collection {}.{}", self.id.creator.0, self.id.serial)
    }
}

/// A handle that reaches the members of a section, whose chares implement a trait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TraitSectionHandle {
    id: SectionId,
    options: Option<CallOptions>,
}

impl TraitSectionHandle {
    /// The trait handle of this section.
    pub fn of<C: Chare>(section: &SectionHandle<C>) -> Self {
        Self { id: section.id(), options: section.options().cloned() }
    }

    /// Forms a section of members of collections, whatever their types. One message to each PE that is home to one.
    pub fn form(members: impl IntoIterator<Item = TraitHandle>) -> Self {
        let members = members.into_iter().map(|member| member.target).collect();
        Self { id: form(members, None), options: None }
    }

    /// Calls back when the section is formed, as by [`SectionHandle::formed`].
    pub fn formed(&self, callback: Callback<()>) {
        tell_when_formed(self.id, callback);
    }

    /// Ends the section, as [`SectionHandle::dissolve`] does.
    pub fn dissolve(&self) {
        dissolve(self.id);
    }

    /// The same section; its calls are queued by `options` instead of the entries' own.
    pub fn with(&self, options: CallOptions) -> Self {
        Self { options: Some(options), ..self.clone() }
    }

    /// Calls an entry of all members; costs what [`SectionHandle::multicast`] does.
    pub fn multicast<E: TraitEntry>(&self, arguments: E::Arguments) {
        call_some(self.id, self.options.as_ref(), trait_entry::<E>(), arguments, ForMany::default());
    }

    /// Calls an entry with nocopy parameters of all members; costs what [`SectionHandle::multicast_nocopy`] does.
    pub fn multicast_nocopy<E: TraitEntry>(
        &self,
        arguments: E::Arguments,
        nocopy: impl IntoIterator<Item = Outgoing>,
    ) {
        let nocopy = take_charge_for_many(nocopy);
        call_some(self.id, self.options.as_ref(), trait_entry::<E>(), arguments, nocopy);
    }

    /// A callback that calls an entry of all members.
    pub fn callback<E: TraitEntry>(&self) -> Callback<E::Arguments> {
        Callback::new(section_goal(self.id, trait_entry::<E>()))
    }
}

equal_by!(id of TraitSectionHandle);
