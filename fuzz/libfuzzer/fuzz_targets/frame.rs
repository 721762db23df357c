#![no_main]
//! libFuzzer on the target `frame`.

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("frame"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
