//! Knobs: constants that a driven job may have at an extreme, so that what is rare with the usual value is common with another one.
//!
//! A knob is a function, which is the constant itself in a build without `sim`. Its value is the same on all nodes of a job and for as long
//! as it lasts.

/// Defines a knob: `knob! { /// What it is.  fn batch() -> usize = 64, or [1, 4096]; }`. One extreme is to be the least that works.
#[cfg(not(feature = "sim"))]
#[doc(hidden)]
#[macro_export]
macro_rules! knob {
    ($(#[$about:meta])* $visibility:vis fn $name:ident() -> $kind:ty = $usual:expr, or [$($extreme:expr),+ $(,)?];) => {
        $(#[$about])*
        #[inline(always)]
        $visibility const fn $name() -> $kind {
            $usual
        }
    };
}

/// Defines a knob: `knob! { /// What it is.  fn batch() -> usize = 64, or [1, 4096]; }`. One extreme is to be the least that works.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[macro_export]
macro_rules! knob {
    ($(#[$about:meta])* $visibility:vis fn $name:ident() -> $kind:ty = $usual:expr, or [$($extreme:expr),+ $(,)?];) => {
        $(#[$about])*
        #[inline]
        $visibility fn $name() -> $kind {
            const EXTREMES: &[$kind] = &[$($extreme),+];
            const NAME: u64 = $crate::knobs::name(concat!(module_path!(), "::", stringify!($name)));
            $crate::knobs::extreme(NAME, EXTREMES).unwrap_or($usual)
        }
    };
}

/// The number of a name (FNV-1a).
#[cfg(feature = "sim")]
#[doc(hidden)]
pub const fn name(name: &str) -> u64 {
    let (bytes, mut hash, mut at) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

/// The extreme that a knob is at in the job that is driven, if it is.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[inline]
pub fn extreme<T: Copy>(name: u64, extremes: &[T]) -> Option<T> {
    super::driven::extreme(name, extremes.len()).map(|number| extremes[number])
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use crate::ambient::{Ambient, Common};
    use std::collections::BTreeSet;
    use std::rc::Rc;

    knob! {
        /// For the test alone.
        fn batch() -> usize = 64, or [1, 4_096];
    }

    knob! {
        /// For the test alone.
        fn other() -> u64 = 7, or [0];
    }

    #[test]
    fn a_knob_is_at_an_extreme_in_some_jobs_and_the_same_on_all_nodes() {
        assert_eq!((batch(), other()), (64, 7), "nobody drives this thread");
        let mut seen = BTreeSet::new();
        for knobs in 0..100 {
            let common = Rc::new(Common::new(Some(knobs), None, 0));
            let of_node = |node| Ambient::of_job(knobs, node, &common).within(0, 0, || (batch(), other()));
            assert_eq!(of_node(0), of_node(1));
            seen.insert(of_node(0));
        }
        assert_eq!(seen.len(), 6, "each with each: {seen:?}");
        let plain = Ambient::new(1, 0);
        assert_eq!(plain.within(0, 0, || (batch(), other())), (64, 7));
    }
}
