//! Polling order: how often a thread looks at other hosts between its looks at shared memory.

use std::cell::Cell;

/// Looks at shared memory for each look at TCP, where both are needed: together they take as long as the system call.
const LOOKS_PER_TCP: u32 = 8;

thread_local! {
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

/// This thread's next look goes everywhere: it has slept, and does not know who woke it.
pub(super) fn look_everywhere_next() {
    LOOKS.set(LOOKS_PER_TCP - 1);
}

/// Every so often, for each thread that polls: a look at other hosts is a system call, which neighbours need not wait for.
pub(super) fn is_turn_of_the_farther() -> bool {
    let looks = LOOKS.get().wrapping_add(1);
    LOOKS.set(looks);
    looks.is_multiple_of(LOOKS_PER_TCP)
}
