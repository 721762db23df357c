//! Layouts with gaps, which constants find.

#[derive(chare::Layout)]
#[layout(between(kind, x), behind(x, kind), none(x, kind, color))]
pub struct Particle {
    pub x: [f64; 3],
    pub kind: u32,
    pub color: [u8; 4],
}

#[derive(chare::Layout)]
#[layout(nothing(nothing))]
pub struct Nothing {
    pub nothing: [u64; 0],
}

fn main() {}
