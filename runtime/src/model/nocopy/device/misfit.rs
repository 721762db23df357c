//! Misfits: bytes of a device that are no elements of a type, in words.

/// Why bytes of a device are no elements of a type.
pub(super) fn misfit<T>(bytes: usize) -> String {
    let (name, size) = (std::any::type_name::<T>(), size_of::<T>());
    format!("{bytes} bytes of a device are no whole number of `{name}` ({size} bytes each), aligned")
}
