//! libFuzzer on the target `handshake`.

#![no_main]

libfuzzer_sys::fuzz_target!(init: chare_libfuzzer::prepare("handshake"), |bytes: &[u8]| chare_libfuzzer::run(bytes));
