use chare::prelude::*;

fn misuse(first: Post<f64>, second: Post<f64>) {
    let landing = vec![0.0; 10];
    first.post(landing).expect("it is as long");
    second.post(landing).expect("it is as long");
}

fn main() {
    let _ = misuse;
}
