//! libFuzzer on the target `emulated`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("emulated"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
