//! A single chare: one proxy type, which is both the whole and the element.
#![deny(warnings, missing_docs)]

use chare::prelude::*;

/// The first chare.
pub struct Main;

#[chare]
impl Main {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Main
    }

    /// Prints a greeting.
    #[entry]
    pub fn greet(&mut self, name: String) {
        let _ = name;
    }
}

fn use_proxies() {
    let main: MainProxy = MainProxy::create();
    let there = MainProxy::create_on(PeId(1));
    main.greet("you".to_owned());
    let callback: Callback<String> = there.with(chare::CallOptions::new()).greet_callback();
    let _ = callback;
}
