//! Model of bells: nobody sleeps beside work, and one sleep is ended by one ring.

use crate::sync::bell::Armed;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// Two who leave work, each its own; returns the work, and how many of them have to ring.
fn leave_work(armed: &Arc<Armed>) -> ([Arc<AtomicBool>; 2], [thread::JoinHandle<bool>; 2]) {
    let work = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let ringers = [0, 1].map(|one| {
        let (armed, work) = (Arc::clone(armed), Arc::clone(&work[one]));
        thread::spawn(move || {
            work.store(true, Ordering::Relaxed);
            armed.disarm()
        })
    });
    (work, ringers)
}

#[test]
fn a_sleeper_finds_all_work_or_hears_the_bell() {
    loom::model(|| {
        let armed = Arc::new(Armed::new());
        let (work, ringers) = leave_work(&armed);
        armed.arm();
        let found = work.map(|work| work.load(Ordering::Relaxed));
        let rings = ringers.map(|ringer| ringer.join().unwrap()).into_iter().filter(|rang| *rang).count();
        assert!(found == [true; 2] || rings == 1, "it sleeps beside its work");
        assert!(rings <= 1, "one sleep, one ring");
    });
}
