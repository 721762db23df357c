//! libFuzzer on the target `layout`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("layout"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
