#![no_main]
//! libFuzzer on the target `envelope`.

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("envelope"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
