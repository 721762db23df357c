//! Panic hook of PE threads: silent, for whoever catches a panic reports it, once; the hook that a program has set is called all the
//! same.

use super::Pe;
use crate::base::panics::note;
use std::panic::{PanicHookInfo, set_hook, take_hook};

/// A panic hook, as the standard library keeps it.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// Makes panics on PE threads known to whoever catches them. Other panics go to the hook that was there before, and so do those of PEs
/// unless that is the standard library's own, which would only print what the job's error says.
pub(crate) fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        // Without a hook of the program, `take_hook` gives the standard library's.
        let is_own = !is_same(&before, &take_hook());
        set_hook(Box::new(move |panic| {
            let is_of_pe = Pe::try_current(|_| ()).is_some();
            if is_of_pe {
                note(panic);
            }
            if is_own || !is_of_pe {
                before(panic);
            }
        }));
    });
}

/// Whether two hooks are one. If the compiler makes two of one, a panic is reported twice.
fn is_same(one: &Hook, other: &Hook) -> bool {
    std::ptr::eq(&raw const **one, &raw const **other)
}
