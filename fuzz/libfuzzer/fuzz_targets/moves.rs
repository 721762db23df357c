//! libFuzzer on the target `moves`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("moves"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
