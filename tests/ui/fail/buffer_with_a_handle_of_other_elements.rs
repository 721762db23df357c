use chare::prelude::*;
use chare::{SourceHandle, rget};

fn misuse(source: SourceHandle<f64>) {
    rget(&source, BufferMut::<u8>::zeroed(80), Callback::<BufferMut<u8>>::ignore()).expect("it is as long");
}

fn main() {
    let _ = misuse;
}
