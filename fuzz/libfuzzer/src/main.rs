//! libFuzzer on the target that `CHARE_FUZZ_TARGET` names, and the panics that are findings.

#![no_main]

use chare_fuzz::Target;
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("CHARE_FUZZ_TARGET").expect("CHARE_FUZZ_TARGET names a target of chare-fuzz");
    chare_fuzz::target(&name)
});

/// A panic that would end a job in words is not a finding; any other is.
fn prepare() {
    LazyLock::force(&TARGET);
    // libFuzzer's, which aborts.
    let found = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !chare_fuzz::is_guarded() {
            found(panic);
        }
    }));
}

libfuzzer_sys::fuzz_target!(init: prepare(), |bytes: &[u8]| (TARGET.run)(bytes));
