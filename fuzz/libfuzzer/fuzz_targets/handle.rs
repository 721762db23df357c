//! libFuzzer on the target `handle`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("handle"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
