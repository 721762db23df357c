#![no_main]
//! libFuzzer on the target `handshake`.

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("handshake"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
