//! libFuzzer on the target `buffers`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("buffers"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
