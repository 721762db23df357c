//! Panic hooks of a program: the one that was set before a job starts hears of panics on PEs, too.

use chare::Job;
use std::sync::Mutex;

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_hook_that_was_set_earlier_is_called() {
    std::panic::set_hook(Box::new(|panic| {
        HEARD.lock().unwrap().push(panic.payload_as_str().unwrap_or_default().to_owned());
    }));
    let failed = Job::in_process(1, 1).run(|| async { panic!("a chare is lost") });
    assert!(failed.unwrap_err().to_string().contains("a chare is lost (at "));
    assert_eq!(*HEARD.lock().unwrap(), ["a chare is lost"]);
}
