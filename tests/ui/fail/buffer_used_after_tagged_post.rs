use chare::prelude::*;

fn misuse() {
    let mut landing = BufferMut::<f64>::zeroed(10);
    chare::post_buffer(7, landing).expect("the tag is free");
    landing[0] = 3.0;
}

fn main() {
    let _ = misuse;
}
