//! libFuzzer on the target `options`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("options"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
