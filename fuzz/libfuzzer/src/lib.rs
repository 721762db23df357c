//! Set-up of all fuzzers: the target that this process drives, and the panics that are findings.

use chare_fuzz::Target;
use std::sync::OnceLock;

static TARGET: OnceLock<Target> = OnceLock::new();

/// Chooses the target. A panic that would end a job in words is not a finding; any other is.
pub fn prepare(name: &str) {
    TARGET.get_or_init(|| chare_fuzz::target(name));
    // libFuzzer's, which aborts.
    let found = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !chare_fuzz::is_guarded() {
            found(panic);
        }
    }));
}

/// Feeds the target.
pub fn run(bytes: &[u8]) {
    let target = TARGET.get().expect("it was prepared");
    (target.run)(bytes);
}
