use chare::prelude::*;
use chare::{TargetHandle, rput};

fn misuse(target: TargetHandle<f64>) {
    let mut row = vec![1.0; 10];
    rput(row, &target, Callback::<Buffer<f64>>::ignore()).expect("it is as long");
    row[0] = 3.0;
}

fn main() {
    let _ = misuse;
}
