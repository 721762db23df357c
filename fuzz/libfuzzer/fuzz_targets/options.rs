#![no_main]
//! libFuzzer on the target `options`.

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("options"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
