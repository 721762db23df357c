//! Traits of entries: visibility, conditions, names like what is generated, in another module than the chare.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

mod shapes {
    /// What shapes can do.
    #[chare::entries]
    pub trait Shape: Sized {
        /// With names like what is generated.
        #[entry(immediate)]
        fn r#move(&mut self, this: u8, arguments: String, chare: f64);

        /// Has something of its own.
        #[entry]
        fn sum(&self, nocopy: u32) -> u64 {
            u64::from(nocopy) + u64::from(Self::sides())
        }

        /// Not there.
        #[cfg(any())]
        #[entry]
        fn absent(&self, number: NoSuchType);

        /// No entry.
        fn sides() -> u32;
    }
}

/// What extends others, near and far.
mod solids {
    /// What solids can do.
    #[chare::entries(extends = super::shapes::Shape)]
    pub trait Solid: super::shapes::Shape + Sized {
        /// Like one of the trait that is extended.
        #[entry]
        fn sum(&self, extra: u8) -> String {
            extra.to_string()
        }

        /// Its own.
        #[entry]
        fn melt(&mut self);
    }

    #[chare::entries(extends = Solid)]
    pub(super) trait Metal {
        #[entry]
        fn forge(&mut self) {
            self.melt();
        }
    }
}

/// A chare.
pub struct Square;

#[chare(nodegroup)]
impl Square {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self
    }
}

#[entries]
impl shapes::Shape for Square {
    fn r#move(&mut self, this: u8, arguments: String, chare: f64) {
        let _ = (this, arguments, chare);
    }

    fn sides() -> u32 {
        4
    }
}

#[entries]
impl solids::Solid for Square {
    fn melt(&mut self) {}
}

#[entries]
impl solids::Metal for Square {}

#[cfg(any())]
#[entries]
impl shapes::Shape for NoSuchType {}

async fn use_proxies_that_extend_others(squares: SquareProxy) {
    use solids::{MetalCollectionProxy, MetalProxy, MetalSectionProxy, SolidProxy};
    let metal = MetalProxy::of(&squares.local());
    metal.forge();
    metal.melt();
    metal.with(chare::CallOptions::new()).r#move(1, String::new(), 2.0);
    let _: String = metal.sum(3).await;
    let _ = (metal.forge_callback(), metal.melt_callback(), metal.move_callback());
    let all: MetalCollectionProxy<u64> = MetalCollectionProxy::of(&squares);
    all.forge();
    all.melt();
    all.r#move(1, String::new(), 2.0);
    all.at(0).melt();
    let some = MetalSectionProxy::form([&metal]);
    some.melt();
    some.r#move(1, String::new(), 2.0);
    some.dissolve();
    let solid = SolidProxy::from(metal);
    let shape = shapes::ShapeProxy::from(solid);
    let _: u64 = shape.sum(3).await;
}

async fn use_proxies(squares: SquareProxy) {
    let shape = shapes::ShapeProxy::of(&squares.local());
    shape.r#move(1, String::new(), 2.0);
    let _: u64 = shape.sum(3).await;
    let _ = shape.move_callback();
    let all: shapes::ShapeCollectionProxy<u64> = shapes::ShapeCollectionProxy::of(&squares);
    all.with(chare::CallOptions::new()).r#move(1, String::new(), 2.0);
    let _: u64 = all.at(0).sum(3).await;
    let _ = (all.move_callback(), all.at(0) == shape, squares.local() == squares.local());
}
