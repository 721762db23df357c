//! Layouts of fields: names, types, visibilities and representations that generated code might get wrong.
#![deny(warnings, missing_docs, clippy::all)]
#![forbid(unsafe_code)]

/// A module whose structs others use.
pub mod particles {
    /// A particle, without any fields of which bytes could be plain data beside the three.
    #[derive(Clone, chare::Layout)]
    #[layout(place(x, id), kind(r#type))]
    #[layout(position_and_all(x, id, pairs))]
    pub struct Particle {
        is_alive: bool,
        /// Where it is.
        pub x: [f64; Self::DIMENSIONS],
        /// Who it is.
        pub id: u64,
        pub(crate) r#type: u16,
        pairs: [[u32; 2]; <Self>::DIMENSIONS],
        name: String,
    }

    impl Particle {
        const DIMENSIONS: usize = 3;

        /// One at rest.
        pub fn at_rest() -> Self {
            Self { is_alive: true, x: [0.0; 3], id: 0, r#type: 1, pairs: [[0; 2]; 3], name: String::new() }
        }

        /// What can be said of it.
        pub fn text(&self) -> String {
            format!("{} {} {:?}", self.name, self.is_alive, self.pairs)
        }
    }
}

mod others {
    use chare::Layout;

    #[derive(Layout)]
    #[layout(all(a, b, c))]
    #[repr(C, packed)]
    pub(super) struct Packed {
        pub(super) b: u8,
        pub(super) a: u16,
        c: u8,
    }

    #[derive(Layout)]
    #[layout(part(inner))]
    #[allow(dead_code, reason = "its layout leaves a field out")]
    pub(super) struct Outer {
        pub(super) inner: PackedAll,
        number: u32,
    }
}

fn check<T: chare::Element>(layout: chare::Layout<particles::Particle, T>, bytes: u64) {
    assert_eq!(layout.bytes(), bytes);
    assert_eq!(layout.extent(), size_of::<particles::Particle>() as i64);
    assert_eq!(size_of::<T>() as u64, bytes);
}

#[test]
fn it_runs() {
    use particles::Particle;
    check(Particle::place(), 32);
    check(Particle::kind(), 2);
    check(Particle::position_and_all(), 56);
    let place = |place: &particles::ParticlePlace| (place.x, place.id);
    let kind = |kind: &particles::ParticleKind| kind.r#type;
    let _ = (place, kind, Particle::at_rest().clone().text());

    let packed = others::Packed::all();
    assert_eq!(packed.runs().collect::<Vec<_>>(), [(1, 2), (0, 1), (3, 1)]);
    assert_eq!(others::Outer::part().bytes(), 4);

    #[derive(chare::Layout)]
    #[layout(number(number))]
    struct Local {
        number: u32,
    }
    let local = Local { number: 1 };
    assert_eq!(Local::number().len(), local.number as usize);
}
