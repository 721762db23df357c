//! One chare for each PE.
#![deny(warnings)]

use chare::prelude::*;

struct Cache;

#[chare(group)]
impl Cache {
    #[entry]
    fn new(capacity: usize) -> Cache {
        let _ = capacity;
        Cache
    }

    #[entry]
    fn clear(&mut self) {}
}

fn use_proxies() {
    let caches = CacheProxy::create(1 << 20);
    caches.clear();
    caches.local().clear();
    let there: CacheElementProxy = caches.on(PeId(3));
    there.clear();
}
