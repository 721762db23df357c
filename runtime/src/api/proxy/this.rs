//! A chare's view of itself: its proxy, its collection, its index, and its contributions to reductions.

use super::collection::CollectionHandle;
use super::element::ElementHandle;
use super::section::SectionHandle;
use crate::model::callback::Callback;
use crate::model::ids::{CollectionId, Index, Target};
use crate::model::index::ArrayIndex;
use crate::model::reduction::Share;
use crate::model::reduction::reducers::Contribution;
use crate::model::registry::{Chare, Identity, Standing, This, kind};
use crate::pe::{ENDED, Pe};
use crate::services::{broadcast, reduction, section};
use chare_lrts::codec;
use chare_lrts::dice;
use std::any::TypeId;

/// A chare's view of itself, in its entries and its constructor.
pub trait ThisChare: Chare
where
    Self::Element: From<ElementHandle<Self>>,
{
    /// A proxy of this chare.
    fn this_chare(&self) -> Self::Element {
        ElementHandle::of_running().into()
    }
}

impl<C: Chare> ThisChare for C where C::Element: From<ElementHandle<C>> {}

/// A member's view of itself and its collection, in its entries.
pub trait ThisMember: Chare
where
    Self::Kind: kind::Collective,
    Self::Proxy: From<CollectionHandle<Self>>,
{
    /// A proxy of the whole collection.
    fn this_collection(&self) -> Self::Proxy {
        CollectionHandle::new(my_place().0).into()
    }

    /// The member's index: its place in an array, its PE in a group, its node in a nodegroup.
    fn this_index(&self) -> Self::Index {
        with_running(index_of)
    }

    /// Adds this member's share to the collection's next reduction with this callback, which receives the result once every member has
    /// contributed. Reductions are told apart by their callbacks: members may contribute to those of different callbacks in any order, so
    /// clients of one array that know nothing of each other each get their own results. All members must name equal callbacks for what
    /// is to be one reduction.
    ///
    /// In an array to which elements may be added, a contribution in an entry that a call of all elements ran belongs to that call, also
    /// after an `.await` and in entries of other elements that it calls in turn: those who heard the call are awaited, and nobody else.
    /// An element that did not hear the call and contributes in its course ends the job with an error.
    #[inline]
    fn contribute<T>(&self, contribution: Contribution<T>, callback: Callback<T>) {
        with_running(|identity| contribute_as(identity, contribution, callback));
    }

    /// Adds this member's share to the next reduction of a section that it belongs to; `callback` receives the result once every member
    /// of the section has contributed. Reductions are told apart by their callbacks, as those over a whole collection are. A contribution
    /// to a section by a chare that does not belong to it ends the job with an error.
    ///
    /// The contributions of a member are counted for each of its sections and for its collection separately: reductions over all of them
    /// may be under way at one time, several over each.
    ///
    /// ```
    /// use chare::prelude::*;
    ///
    /// struct Cell;
    ///
    /// #[chare(array, index = (u32, u32))]
    /// impl Cell {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     fn add(&mut self, row: CellSectionProxy, scale: f64, done: Callback<f64>) {
    ///         let (_, column) = self.this_index();
    ///         self.contribute_to(&row, sum(scale * f64::from(column)), done);
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(2, 2).run(|| async {
    ///     let cells = CellProxy::create((4, 5));
    ///     let row = cells.section((0..5).map(|column| (2, column)));
    ///     let (total, done) = chare::future();
    ///     row.add(row.clone(), 0.5, done);
    ///     assert_eq!(total.await, 5.0);
    ///     row.dissolve();
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    fn contribute_to<T>(
        &self,
        section: &impl AsRef<SectionHandle<Self>>,
        contribution: Contribution<T>,
        callback: Callback<T>,
    ) {
        with_running(|identity| contribute_to_as(identity, section.as_ref(), contribution, callback));
    }

    /// The same callback, narrowed: where it would reach every member of this chare's collection, it reaches this chare alone.
    fn narrow<T>(&self, callback: Callback<T>) -> Callback<T> {
        narrow_to(my_place(), callback)
    }
}

impl<C: Chare> ThisMember for C
where
    C::Kind: kind::Collective,
    C::Proxy: From<CollectionHandle<C>>,
{
}

/// The index of the member that is running, for constructors, which have no `self` yet.
///
/// ```
/// # use chare::prelude::*;
/// # struct Cell { corner: (f64, f64) }
/// # #[chare(array, index = (u32, u32))]
/// # impl Cell {
/// #[entry]
/// fn new() -> Self {
///     let (x, y): (u32, u32) = chare::this_index();
///     Self { corner: (f64::from(x), f64::from(y)) }
/// }
/// # }
/// ```
///
/// # Panics
/// Outside the entries of a collection's members, and if their index is of another type.
pub fn this_index<I: ArrayIndex>() -> I {
    with_running(index_of)
}

pub(super) fn with_running<R>(body: impl FnOnce(&Identity) -> R) -> R {
    Pe::current(|pe| pe.with_running(body))
}

fn my_place() -> (CollectionId, Index) {
    with_running(place_of)
}

fn narrow_to<T>((collection, index): (CollectionId, Index), callback: Callback<T>) -> Callback<T> {
    let CollectionId { creator, serial } = collection;
    callback.narrowed((broadcast::ID, (creator, serial)), Target::Member(collection, index))
}

#[inline]
fn place_of(identity: &Identity) -> (CollectionId, Index) {
    match identity.target {
        Target::Member(collection, index) => (collection, index),
        Target::Chare(_) => panic!("{} is a singleton: it has no index and no collection", identity.name()),
    }
}

fn index_of<I: ArrayIndex>(identity: &Identity) -> I {
    let (id, index) = place_of(identity);
    Pe::current(|pe| {
        let places = pe.places.borrow();
        let Some(collection) = places.collection(id) else {
            panic!("this {} and its collection have ended: {ENDED}", identity.name());
        };
        let registered = &collection.info.chare.index;
        let wanted = std::any::type_name::<I>();
        assert!(
            registered.type_id == TypeId::of::<I>(),
            "the index of {} is a {} and no {wanted}",
            identity.name(),
            (registered.type_name)()
        );
        let named = || codec::decode(collection.names.get(&index)?).ok();
        I::unpack(index)
            .or_else(named)
            .unwrap_or_else(|| panic!("the index of a {} came as bits that are no {wanted}", identity.name()))
    })
}

#[inline]
fn contribute_as<T>(identity: &Identity, contribution: Contribution<T>, callback: Callback<T>) {
    assert!(!identity.is_gone(), "a {} contributes after it was destroyed", identity.name());
    let (collection, index) = place_of(identity);
    let (data, callback) = (contribution.of_member(index, dice::draw), callback.erase());
    let next = identity.standing.get().next();
    Pe::current(|pe| {
        if reduction::join(pe, collection, next, &data, &callback) {
            identity.standing.set(Standing::before(next + 1));
        } else {
            reduction::contribute(pe, identity, (collection, index), Share::new(data, callback));
        }
    });
}

fn contribute_to_as<C: Chare, T>(
    identity: &Identity,
    section: &SectionHandle<C>,
    contribution: Contribution<T>,
    callback: Callback<T>,
) {
    assert!(!identity.is_gone(), "a {} contributes after it was destroyed", identity.name());
    let share = Share::new(contribution.of_member(place_of(identity).1, dice::draw), callback.erase());
    Pe::current(|pe| section::contribute(pe, identity, section.id(), share));
}

/// What entries that are not `async` have on `self`, under the same names.
impl<C: Chare> This<C> {
    /// A proxy of this chare.
    ///
    /// ```
    /// use chare::prelude::*;
    ///
    /// struct Cell;
    ///
    /// #[chare(array)]
    /// impl Cell {
    ///     #[entry]
    ///     fn new() -> Self {
    ///         Self
    ///     }
    ///
    ///     #[entry]
    ///     async fn meet(this: This<Self>, done: Callback<u64>) {
    ///         assert_eq!(this.this_chare(), this.this_collection().at(this.this_index()));
    ///         this.contribute(sum(this.this_index()), done);
    ///     }
    /// }
    ///
    /// let job = chare::Job::in_process(1, 2).run(|| async {
    ///     let (total, done) = chare::future();
    ///     CellProxy::create(4).meet(done);
    ///     assert_eq!(total.await, 6);
    /// });
    /// assert_eq!(job.unwrap(), 0);
    /// ```
    pub fn this_chare(&self) -> C::Element
    where
        C::Element: From<ElementHandle<C>>,
    {
        ElementHandle::new(self.identity().target).into()
    }
}

impl<C: Chare> This<C>
where
    C::Kind: kind::Collective,
{
    /// A proxy of the whole collection.
    pub fn this_collection(&self) -> C::Proxy
    where
        C::Proxy: From<CollectionHandle<C>>,
    {
        CollectionHandle::new(place_of(self.identity()).0).into()
    }

    /// The member's index.
    pub fn this_index(&self) -> C::Index {
        index_of(self.identity())
    }

    /// Adds this member's share to the collection's next reduction; see [`ThisMember::contribute`].
    pub fn contribute<T>(&self, contribution: Contribution<T>, callback: Callback<T>) {
        contribute_as(self.identity(), contribution, callback);
    }

    /// Adds this member's share to the next reduction of a section that it belongs to; see [`ThisMember::contribute_to`].
    pub fn contribute_to<T>(
        &self,
        section: &impl AsRef<SectionHandle<C>>,
        contribution: Contribution<T>,
        callback: Callback<T>,
    ) {
        contribute_to_as(self.identity(), section.as_ref(), contribution, callback);
    }

    /// The same callback, narrowed to this chare; see [`ThisMember::narrow`].
    pub fn narrow<T>(&self, callback: Callback<T>) -> Callback<T> {
        narrow_to(place_of(self.identity()), callback)
    }
}
