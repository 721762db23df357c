//! Lost futures: those that are dropped before their value has come. Counted, for whoever drops what should hold none.

use super::Pe;
use super::futures::Future;

impl<T> Drop for Future<T> {
    fn drop(&mut self) {
        if self.is_open() {
            Pe::try_current(|pe| pe.tasks.lose_future());
        }
    }
}
