//! Large boxes: their parts are told apart without a look at each piece.

use chare_layout::{Dims, Layout, Raw};

/// The inside of a box with a frame, and the six faces of the frame.
fn parts(edge: usize) -> Vec<Layout<f64>> {
    let points = Dims::new([edge + 2; 3]);
    let (inside, low, high) = (1..=edge, 0..=0, edge + 1..=edge + 1);
    let mut parts = vec![points.select((inside.clone(), inside.clone(), inside.clone()))];
    for end in [low, high] {
        parts.push(points.select((end.clone(), inside.clone(), inside.clone())));
        parts.push(points.select((inside.clone(), end.clone(), inside.clone())));
        parts.push(points.select((inside.clone(), inside.clone(), end)));
    }
    parts
}

#[test]
fn the_parts_of_a_large_box_share_no_byte() {
    for edge in [8, 100, 1000, 3000] {
        let all = parts(edge).iter().try_fold(Raw::bytes_of(0).unwrap(), |all, part| all.then(part)).unwrap();
        assert_eq!(all.check_target(), Ok(()), "edge {edge}");
        let parts = parts(edge);
        let points = Dims::new([edge + 2; 3]);
        let face: Layout<f64> = points.select((1..=edge, 1..=edge, edge));
        for other in &parts[1..] {
            assert_eq!(face.raw().then(other).unwrap().check_target(), Ok(()), "edge {edge}");
        }
        assert!(face.raw().then(&parts[0]).unwrap().check_target().is_err(), "it is of the inside");
    }
}
