//! Calls of whole groups, of parts of them, and of nodegroups.

use chare::prelude::*;

struct Member {
    calls: u64,
}

#[chare(group)]
impl Member {
    /// Contributes as soon as it exists.
    #[entry]
    fn new(created: Callback<()>) -> Self {
        let member = Self { calls: 0 };
        member.contribute(barrier(), created);
        member
    }

    #[entry]
    fn hear(&mut self, done: Callback<()>) {
        self.calls += 1;
        self.contribute(barrier(), done);
    }

    /// The same, called by a section.
    #[entry]
    fn hear_in(&mut self, section: MemberSectionProxy, done: Callback<()>) {
        self.calls += 1;
        self.contribute_to(&section, barrier(), done);
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(set(self.calls), done);
    }
}

/// A group whose members have all said that they exist.
async fn members() -> MemberProxy {
    let (created, done) = chare::future();
    let members = MemberProxy::create(done);
    created.await;
    members
}

async fn calls(members: &MemberProxy) -> Vec<u64> {
    let (calls, done) = chare::future();
    members.report(done);
    calls.await
}

pub(crate) async fn group() {
    let members = members().await;
    for _ in 0..2 {
        let (heard, done) = chare::future();
        members.hear(done);
        heard.await;
    }
    assert_eq!(calls(&members).await, vec![2; chare::pes() as usize]);
}

pub(crate) async fn group_by_section() {
    let members = members().await;
    let everyone = members.section((0..chare::pes()).map(PeId));
    for _ in 0..2 {
        let (heard, done) = chare::future();
        everyone.hear_in(everyone.clone(), done);
        heard.await;
    }
    assert_eq!(calls(&members).await, vec![2; chare::pes() as usize]);
    everyone.dissolve();
}

const ITERATIONS: u64 = 4;

/// Calls everyone in its section, and waits for the calls of all.
struct Peer;

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn hear(#[reference] iteration: u64);

    #[entry(awaited)]
    fn go_on(over: ());

    #[entry]
    async fn run(this: This<Self>, section: PeerSectionProxy, size: u64, done: Callback<u64>) {
        for iteration in 0..ITERATIONS {
            section.hear(iteration);
            for _ in 0..size {
                this.when(Self::hear).reference(iteration).await;
            }
            this.contribute_to(&section, barrier(), section.go_on_callback());
            this.when(Self::go_on).await;
        }
        this.contribute_to(&section, sum(size), done);
    }
}

pub(crate) async fn group_sections() {
    let peers = PeerProxy::create();
    let half: Vec<PeId> = (chare::pes() / 2..chare::pes()).map(PeId).collect();
    let all: Vec<PeId> = (0..chare::pes()).map(PeId).collect();
    for members in [half, all] {
        let size = members.len() as u64;
        let section = peers.section(members);
        let (sum, done) = chare::future();
        section.run(section.clone(), size, done);
        assert_eq!(sum.await, size * size);
        section.dissolve();
    }
}

pub(crate) async fn list() {
    let members = members().await;
    let listed = |pe: u32| pe % 3 != 1;
    let section = members.section((0..chare::pes()).filter(|pe| listed(*pe)).map(PeId));
    let (heard, done) = chare::future();
    section.hear_in(section.clone(), done);
    heard.await;
    let expected: Vec<_> = (0..chare::pes()).map(|pe| u64::from(listed(pe))).collect();
    assert_eq!(calls(&members).await, expected);
    section.dissolve();
}

struct Node {
    calls: u64,
}

#[chare(nodegroup)]
impl Node {
    #[entry]
    fn new(created: Callback<()>) -> Self {
        let node = Self { calls: 0 };
        node.contribute(barrier(), created);
        node
    }

    #[entry]
    fn hear(&mut self, done: Callback<u64>) {
        self.calls += 1;
        self.contribute(sum(self.calls), done);
    }
}

pub(crate) async fn nodegroup() {
    let (created, done) = chare::future();
    let nodes = NodeProxy::create(done);
    created.await;
    for round in 1..=2 {
        let (heard, done) = chare::future();
        nodes.hear(done);
        assert_eq!(heard.await, round * u64::from(chare::nodes()));
    }
}
