use chare::prelude::*;
use chare::{SourceHandle, rget};

fn misuse(source: SourceHandle<f64>) {
    let landing = BufferMut::<f64>::zeroed(10);
    rget(&source, landing, Callback::<BufferMut<f64>>::ignore()).expect("it is as long");
    println!("{}", landing[0]);
}

fn main() {
    let _ = misuse;
}
