#![expect(unsafe_code, reason = "changes the environment of the process")]
//! Takes a launcher's variables out of the environment, so that no child mistakes itself for this process.

/// Removes them where that is sound: while this is the only thread.
pub(super) fn remove(names: &[&str]) {
    if std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.take(2).count() == 1) {
        for name in names {
            // SAFETY: no other thread exists that could read the environment meanwhile or start one that does.
            unsafe { std::env::remove_var(name) };
        }
    }
}
