//! Subjects by name: what sides are told to send.

use crate::by_hand::ByHand;
use crate::ddtbench;
use crate::shape::Shape;
use crate::subject::Subject;

/// The subject of a name: a kernel of DDTBench, a shape, or several with `+` in between, each of an array of its own.
pub(crate) fn named(name: &str) -> Option<Box<dyn Subject>> {
    if let Some(kernel) = ddtbench::named(name) {
        return Some(Box::new(kernel));
    }
    let shapes = name.split('+').map(|shape| Shape::parse(shape).map(ByHand::new));
    Some(Box::new(shapes.collect::<Option<Vec<_>>>()?))
}
