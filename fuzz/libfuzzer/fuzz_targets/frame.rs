//! libFuzzer on the target `frame`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("frame"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
