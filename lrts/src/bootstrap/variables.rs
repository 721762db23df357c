//! Environment variables: changes what children of this process find, so that none mistakes itself for it.

#![expect(unsafe_code, reason = "changes the environment of the process")]

/// Whether nobody else could read the environment meanwhile: this is the only thread.
fn is_alone() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.take(2).count() == 1)
}

/// Sets a variable where that is sound.
#[cfg(feature = "net")]
pub(super) fn set(name: &str, value: &str) {
    if is_alone() {
        // SAFETY: no other thread exists that could read the environment meanwhile or start one that does.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Removes variables where that is sound.
pub(super) fn remove(names: &[&str]) {
    if is_alone() {
        for name in names {
            // SAFETY: no other thread exists that could read the environment meanwhile or start one that does.
            unsafe { std::env::remove_var(name) };
        }
    }
}
