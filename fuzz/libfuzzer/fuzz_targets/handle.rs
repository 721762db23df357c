#![no_main]
//! libFuzzer on the target `handle`.

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("handle"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
