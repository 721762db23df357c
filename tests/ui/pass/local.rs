//! Local entries: arguments and results of any type.
#![deny(warnings, missing_docs)]

use chare::prelude::*;
use std::rc::Rc;

/// Keeps names.
pub struct Keeper {
    names: Vec<Rc<str>>,
}

#[chare(group)]
impl Keeper {
    /// Makes it.
    #[entry]
    pub fn new() -> Self {
        Self { names: Vec::new() }
    }

    /// Adds one; how many there are.
    #[entry(local)]
    pub fn add(&mut self, mut chare: Rc<str>, suffix: &str) -> usize {
        if !suffix.is_empty() {
            chare = format!("{chare}{suffix}").into();
        }
        self.names.push(chare);
        self.names.len()
    }

    /// Any of them.
    #[entry(local)]
    pub fn find<'a, T>(&self, key: &'a T, is: impl Fn(&str, &'a T) -> bool) -> Option<Self2>
    where
        T: ?Sized,
    {
        let found = self.names.iter().find(|name| is(name, key))?;
        Some(Self2(Rc::clone(found)))
    }

    #[cfg(any())]
    #[entry(local)]
    fn absent(&self, number: NoSuchType) {}
}

/// A name.
pub struct Self2(Rc<str>);

fn use_proxies(keepers: &KeeperProxy) {
    let keeper = keepers.local();
    let _: usize = keeper.add("one".into(), "");
    let _: Option<Self2> = keeper.find("one", |name, key| name == key);
}
