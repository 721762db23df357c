//! Layouts of fields: what `#[derive(Layout)]` selects is what a loop over the elements picks.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use chare::layout::{Layout, LayoutError, Plan, copy, pack, unpack};
use chare::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable, chare::Layout)]
#[repr(C)]
#[layout(place(x, id), ends(kind, color, id))]
#[layout(speed(v))]
struct Particle {
    id: u64,
    x: [f64; 3],
    color: [u8; 4],
    kind: u32,
    v: [f32; 2],
}

/// The same fields elsewhere, without anything between them.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable, chare::Layout)]
#[repr(C, packed)]
#[layout(place(x, id))]
struct Neighbour {
    color: [u8; 3],
    id: u64,
    x: [f64; 3],
}

fn particles(count: usize) -> Vec<Particle> {
    let particle = |number: usize| Particle {
        id: number as u64,
        x: [number as f64, 0.5, -(number as f64)],
        color: [number as u8; 4],
        kind: 1 << (number % 32),
        v: [number as f32; 2],
    };
    (0..count).map(particle).collect()
}

fn packed<P: Pod>(layout: &Layout<Particle, P>, particles: &[Particle]) -> Result<Vec<P>, LayoutError> {
    let mut stream = vec![P::zeroed(); layout.len()];
    pack(layout, cast_slice(particles), cast_slice_mut(&mut stream))?;
    Ok(stream)
}

fn places(of: impl IntoIterator<Item = Particle>) -> Vec<([f64; 3], u64)> {
    of.into_iter().map(|particle| (particle.x, particle.id)).collect()
}

fn seen(stream: &[ParticlePlace]) -> Vec<([f64; 3], u64)> {
    stream.iter().map(|place| (place.x, place.id)).collect()
}

#[test]
fn fields_are_packed_as_a_loop_packs_them() -> Result<(), LayoutError> {
    for count in [1, 2, 7, 1000] {
        let particles = particles(count);
        let stream = packed(&Particle::place().repeat(count as u64)?, &particles)?;
        assert_eq!(seen(&stream), places(particles.iter().copied()));

        let stream = packed(&Particle::ends().repeat(count as u64)?, &particles)?;
        let ends = stream.iter().map(|ends| (ends.kind, ends.color, ends.id));
        assert!(ends.eq(particles.iter().map(|particle| (particle.kind, particle.color, particle.id))));

        let stream = packed(&Particle::speed().repeat(count as u64)?, &particles)?;
        assert!(stream.iter().map(|speed| speed.v).eq(particles.iter().map(|particle| particle.v)));
    }
    Ok(())
}

#[test]
fn fields_of_some_elements_are_packed() -> Result<(), LayoutError> {
    let particles = particles(100);
    let listed = [3, 1, 99, 3];
    let some = Layout::indexed_block(1, &listed)?.of(&Particle::place())?;
    assert_eq!(seen(&packed(&some, &particles)?), places(listed.map(|number| particles[number as usize])));

    let every_third = Layout::vector(33, 1, 3)?.of(&Particle::place())?;
    assert_eq!(
        seen(&packed(&every_third, &particles)?),
        places(particles.iter().step_by(3).take(33).copied())
    );
    Ok(())
}

#[test]
fn fields_are_unpacked_and_nothing_else_is_written() -> Result<(), LayoutError> {
    let (sent, mut kept) = (particles(50), vec![Particle::zeroed(); 50]);
    let layout = Particle::place().repeat(50)?;
    unpack(&layout, cast_slice(&packed(&layout, &sent)?), cast_slice_mut(&mut kept))?;
    for (sent, kept) in sent.iter().zip(kept) {
        assert_eq!(kept, Particle { id: sent.id, x: sent.x, ..Particle::zeroed() });
    }
    Ok(())
}

#[test]
fn fields_go_to_those_of_another_struct_in_one_pass() -> Result<(), LayoutError> {
    let particles = particles(50);
    let (source, target) = (Particle::place().repeat(50)?, Neighbour::place().repeat(50)?);
    let plan = Plan::new(&source, &target)?;
    let mut neighbours = vec![Neighbour { color: [9; 3], id: 0, x: [0.0; 3] }; 50];
    copy(&plan, cast_slice(&particles), cast_slice_mut(&mut neighbours))?;
    for (particle, neighbour) in particles.iter().zip(neighbours) {
        assert_eq!(neighbour, Neighbour { color: [9; 3], id: particle.id, x: particle.x });
    }
    Ok(())
}

#[test]
fn a_layout_is_made_once() {
    assert!(std::sync::Arc::ptr_eq(Particle::place().raw(), Particle::place().raw()));
}

struct Owner;

#[chare]
impl Owner {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, #[nocopy] places: Received<ParticlePlace>) -> Vec<([f64; 3], u64)> {
        seen(&places)
    }
}

#[test]
fn packed_fields_are_elements_of_nocopy_buffers() {
    let job = chare::Job::in_process(2, 1).run(|| async {
        let particles = particles(5000);
        let layout = Particle::place().repeat(5000).expect("it fits");
        let stream = packed(&layout, &particles).expect("the particles are there");
        let owner = OwnerProxy::create_on(PeId(1));
        assert_eq!(owner.take(stream).await, places(particles));
    });
    assert_eq!(job.unwrap(), 0);
}
