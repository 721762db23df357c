//! Refusal of systems without what this crate is made of, in one sentence instead of a hundred missing names.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "linux" {
        println!(
            "cargo::error=chare runs on Linux, not on {system}: its nodes sleep, share memory and are kept together by futexes, memfds, \
             epoll, membarriers and process groups as Linux has them"
        );
    }
}
