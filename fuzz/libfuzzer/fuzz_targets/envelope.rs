//! libFuzzer on the target `envelope`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("envelope"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
