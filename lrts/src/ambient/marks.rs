//! Marks: places that a protocol calls rare and that a campaign of simulated jobs is to reach.
//!
//! A mark is passed in a driven step alone, and counted for its job. In a build without `sim` nothing is left of it.

/// Marks a rare place by what is the case there, in words that no other mark has: `sometimes!("a call came before its element")`.
#[cfg(not(feature = "sim"))]
#[doc(hidden)]
#[macro_export]
macro_rules! sometimes {
    ($mark:literal) => {};
}

/// Marks a rare place by what is the case there, in words that no other mark has: `sometimes!("a call came before its element")`.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[macro_export]
macro_rules! sometimes {
    ($mark:literal) => {
        $crate::marks::pass($mark)
    };
}

/// Passes a mark.
#[cfg(feature = "sim")]
#[doc(hidden)]
#[inline]
pub fn pass(mark: &'static str) {
    super::driven::pass(mark);
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use crate::ambient::{Ambient, Common};
    use std::rc::Rc;

    #[test]
    fn marks_are_counted_for_the_job_that_passes_them() {
        let common = Rc::new(Common::default());
        sometimes!("nobody drives this thread");
        for node in 0..2 {
            Ambient::of_job(1, node, &common).within(0, 0, || sometimes!("a node came by"));
        }
        Ambient::new(1, 0).within(0, 0, || sometimes!("of another job"));
        assert_eq!(common.marks(), [("a node came by", 2)]);
    }
}
