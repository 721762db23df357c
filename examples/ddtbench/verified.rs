//! Verification: numbers that say where they come from, and a comparison of whole arrays with what must have landed.

use chare::Buffer;
use chare_examples::ddtbench::{End, Kernel, Number};
use std::ops::DerefMut;

/// Numbers are exact in both precisions below this.
const NUMBERS: usize = 1 << 24;

/// Arrays of all kernels, so that those of the two players differ.
const ARRAYS: usize = 10;

/// What a player's source has at a place.
pub(crate) fn number<T: Number>(player: u64, array: usize, place: usize) -> T {
    let numbered = place + 1_000_003 * (1 + array + ARRAYS * player as usize);
    T::numbered((numbered % NUMBERS) as u32)
}

/// What lands from a player, packed by hand.
pub(crate) fn packed_by<T: Number>(player: u64, kernel: &Kernel) -> Vec<T> {
    let array = |(array, len)| (0..len).map(|place| number(player, array, place)).collect();
    let sources: Vec<Vec<T>> = kernel.lens(End::Source).enumerate().map(array).collect();
    let mut packed = vec![T::zeroed(); kernel.bytes() / size_of::<T>()];
    kernel.pack(&sources.iter().map(|source| &source[..]).collect::<Vec<_>>(), &mut packed);
    packed
}

/// Compares targets that were zeros with those in which `packed` lands by hand, every element, and makes them zeros again.
///
/// # Errors
/// The first difference, in words.
pub(crate) fn check_and_clear<T: Number>(
    kernel: &Kernel,
    packed: &[T],
    targets: &mut [impl DerefMut<Target = [T]>],
) -> Result<(), String> {
    let mut expected: Vec<Vec<T>> = kernel.lens(End::Target).map(|len| vec![T::zeroed(); len]).collect();
    kernel.unpack(packed, &mut slices(&mut expected));
    for (array, (found, expected)) in targets.iter().zip(&expected).enumerate() {
        let difference = found.iter().zip(expected).position(|(found, expected)| found != expected);
        if let Some(place) = difference {
            let (found, expected) = (found[place], expected[place]);
            return Err(format!(
                "{kernel:?}: array {array} has {found:?} at {place}, where {expected:?} should be"
            ));
        }
    }
    let zeros = vec![T::zeroed(); packed.len()];
    kernel.unpack(&zeros, &mut slices(targets));
    Ok(())
}

/// All arrays, to be written.
pub(crate) fn slices<T>(arrays: &mut [impl DerefMut<Target = [T]>]) -> Vec<&mut [T]> {
    arrays.iter_mut().map(|array| &mut **array).collect()
}

/// All arrays, to be read.
pub(crate) fn shared<T: Number>(arrays: &[Buffer<T>]) -> Vec<&[T]> {
    arrays.iter().map(|array| &**array).collect()
}
