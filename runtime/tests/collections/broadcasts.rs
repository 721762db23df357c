//! Nocopy broadcasts over every path: once into each process, shared by its members, completed exactly once.

use crate::every_path::on_every_path;
use chare::ArrayOptions;
use chare::prelude::*;

/// One, two, four and six processes (six are two levels of the tree), and several PEs in each.
const SHAPES: [(u32, u32); 6] = [(1, 1), (1, 3), (2, 1), (4, 1), (6, 1), (6, 2)];

const LENGTHS: [usize; 5] = [0, 1, 512, 513, 50_000];

fn pattern(seed: u32, len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

/// In memory that neighbours can map, or not.
fn buffer(seed: u32, len: usize, shareable: bool) -> Buffer<u32> {
    let data = pattern(seed, len);
    if shareable { BufferMut::from_fn(len, |position| data[position]).freeze() } else { data.into() }
}

#[track_caller]
fn check(seed: u32, data: &[u32]) {
    assert!(data == pattern(seed, data.len()), "wrong data, seed {seed}, {} elements", data.len());
}

/// A member's report of a broadcast: its node, where the elements lay, how many they were.
type Seen = (u32, u64, u64);

struct Member {
    kept: Vec<Received<u32>>,
    landing: Option<BufferMut<u32>>,
    completions: u64,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { kept: Vec::new(), landing: None, completions: 0 }
    }

    #[entry]
    fn take(&mut self, seed: u32, #[nocopy] data: Received<u32>, done: Callback<Vec<Seen>>) {
        check(seed, &data);
        let seen = (chare::my_node().0, data.as_ptr() as u64, data.len() as u64);
        // Kept until after the reduction, so that no address is used twice.
        self.kept.push(data);
        self.contribute(set(seen), done);
    }

    #[entry]
    fn let_go(&mut self) {
        self.kept.clear();
    }

    #[entry]
    fn take_two(
        &mut self,
        seed: u32,
        #[nocopy] large: Received<u32>,
        #[nocopy] small: Received<u32>,
        done: Callback<u64>,
    ) {
        check(seed, &large);
        check(seed + 1, &small);
        self.contribute(sum((large.len() + small.len()) as u64), done);
    }

    #[entry]
    fn land(
        &mut self,
        seed: u32,
        #[nocopy(post)] data: Posted<u32>,
        #[nocopy] extra: Received<u32>,
        done: Callback<u64>,
    ) {
        check(seed, &data);
        check(seed + 1, &extra);
        let transferred = data.transferred();
        let buffer = data.into_buffer();
        assert!(buffer[transferred..].iter().all(|element| *element == u32::MAX), "the tail is untouched");
        self.landing = Some(buffer);
        self.contribute(sum(transferred as u64), done);
    }

    #[post(land)]
    fn post_land(&mut self, _seed: &u32, data: Post<u32>, _done: &Callback<u64>) {
        let len = data.len();
        data.post(chare::Landing::first(len, vec![u32::MAX; len + 10])).expect("it is as long");
    }

    #[entry]
    fn landed_at(&mut self, to: Callback<Vec<u64>>) {
        let landing = self.landing.take().map_or(0, |buffer| buffer.as_ptr() as u64);
        self.contribute(set(landing), to);
    }

    /// By its index: posts at once, and a shorter buffer; by a tag under which a buffer lies; or by one where it will.
    #[entry]
    fn collect(&mut self, seed: u32, #[nocopy(post)] data: Posted<u32>, done: Callback<u64>) {
        check(seed, &data);
        self.contribute(sum(data.transferred() as u64), done);
    }

    #[post(collect)]
    fn post_collect(&mut self, _seed: &u32, data: Post<u32>, _done: &Callback<u64>) {
        let index = self.this_index();
        if index.is_multiple_of(3) {
            let half = data.len() / 2;
            data.post(vec![0; half]).expect("it is shorter");
        } else {
            data.match_tag(index).expect("the tag is this member's own");
        }
    }

    #[entry]
    fn offer(&mut self, to: u64, len: u64) {
        let index = self.this_index();
        if index % 3 == to {
            chare::post_buffer(index, vec![0u32; len as usize]).expect("nothing lies there");
        }
    }

    /// Broadcasts one source from wherever this member is.
    #[entry]
    async fn send_to_all(this: This<Self>, seed: u32, len: u64, times: u32, done: Callback<u64>) {
        let source = buffer(seed, len as usize, true);
        let all = this.this_collection();
        let mut sent = Vec::new();
        for _ in 0..times {
            let (back, on_sent) = chare::future::<Sent<u32>>();
            all.hear(seed, SendBuffer::from(source.clone()).on_sent(on_sent));
            sent.push(back);
        }
        for back in sent {
            check(seed, &back.await);
            this.with(|member| member.completions += 1);
        }
        assert!(source.try_into_mut().is_ok(), "nobody holds it any more");
        this.with(|member| member.contribute(sum(member.completions), done));
    }

    #[entry]
    fn hear(&mut self, seed: u32, #[nocopy] data: Received<u32>) {
        check(seed, &data);
        self.completions += 1 << 32;
    }

    #[entry]
    fn heard(&mut self, to: Callback<u64>) {
        self.contribute(sum(self.completions >> 32), to);
    }
}

#[test]
fn the_members_of_a_process_share_one_memory_and_the_sender_gets_its_own_back() {
    on_every_path(&SHAPES, || async {
        let members = MemberProxy::create(u64::from(3 * chare::pes()));
        for (seed, len) in (0u32..).zip(LENGTHS) {
            for shareable in [false, true] {
                let ((seen, done), (back, sent)) = (chare::future(), chare::future());
                members.take(seed, SendBuffer::from(buffer(seed, len, shareable)).on_sent(sent), done);
                let seen: Vec<Seen> = seen.await;
                assert_eq!(seen.len() as u32, 3 * chare::pes());
                assert!(seen.iter().all(|(.., length)| *length == len as u64));
                for node in 0..chare::nodes() {
                    let mut places = seen.iter().filter(|(at, ..)| *at == node).map(|(_, place, _)| place);
                    let first = places.next().expect("every process has members");
                    assert!(len == 0 || places.all(|place| place == first), "one memory on node {node}");
                }
                members.let_go();
                let back = back.await.into_buffer();
                check(seed, &back);
                assert!(back.try_into_mut().is_ok(), "nobody else holds it");
            }
        }
    });
}

#[test]
fn each_of_several_arguments_has_its_own_completion() {
    on_every_path(&SHAPES, || async {
        let members = MemberProxy::create(7);
        for (seed, (large, small)) in (0u32..).zip([(50_000, 3), (3, 50_000), (3, 4), (50_000, 60_000)]) {
            let ((total, done), (one, one_sent), (two, two_sent)) =
                (chare::future(), chare::future::<Sent<u32>>(), chare::future::<Sent<u32>>());
            let first = SendBuffer::from(buffer(seed, large, true)).on_sent(one_sent);
            let second = SendBuffer::from(buffer(seed + 1, small, false)).on_sent(two_sent);
            members.take_two(seed, first, second, done);
            assert_eq!(total.await, 7 * (large + small) as u64);
            assert_eq!((one.await.len(), two.await.len()), (large, small));
        }
    });
}

#[test]
fn every_member_posts_a_buffer_of_its_own() {
    on_every_path(&SHAPES, || async {
        let count = u64::from(2 * chare::pes());
        let members = MemberProxy::create(count);
        for (seed, len) in (0u32..).zip(LENGTHS) {
            let ((total, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let data = SendBuffer::from(buffer(seed, len, len % 2 == 0)).on_sent(sent);
            members.land(seed, data, pattern(seed + 1, 600), done);
            assert_eq!(total.await, count * len as u64);
            check(seed, &back.await);
            let (places, to) = chare::future();
            members.landed_at(to);
            let mut places: Vec<u64> = places.await;
            assert_eq!(places.len() as u64, count);
            // Nodes of this test share one address space, so all places differ.
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len() as u64, count, "a buffer for each member");
        }
    });
}

#[test]
fn members_post_by_tag_before_and_after_and_the_sender_learns_the_fewest() {
    on_every_path(&SHAPES, || async {
        let members = MemberProxy::create(12);
        for (seed, len) in (0u32..).zip([2, 100, 512, 70_000]) {
            members.offer(1, len);
            chare::quiescence().await;
            let ((total, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let data = buffer(seed, len as usize, true);
            members.collect(seed, SendBuffer::from(data).on_sent(on_sent), done);
            members.offer(2, len);
            assert_eq!(total.await, 4 * (len / 2) + 8 * len);
            let sent = sent.await;
            assert_eq!((sent.transferred() as u64, sent.len() as u64), (len / 2, len));
            check(seed, &sent);
            chare::quiescence().await;
        }
    });
}

#[test]
fn eight_broadcasts_of_one_source_at_once_from_every_root() {
    on_every_path(&[(2, 2), (4, 1), (6, 1)], || async {
        let count = u64::from(chare::pes());
        for len in [100, 70_000] {
            let members = MemberProxy::create(count);
            let (completions, done) = chare::future();
            members.send_to_all(5, len, 8, done);
            // Low half: completions that each sender saw when its eight were over; what it heard until then stands above.
            assert_eq!(completions.await & u64::from(u32::MAX), 8 * count);
            chare::quiescence().await;
            let (heard, to) = chare::future();
            members.heard(to);
            assert_eq!(heard.await, 8 * count * count);
        }
    });
}

#[test]
fn processes_without_members_pass_broadcasts_on() {
    on_every_path(&[(2, 1), (6, 1), (6, 2)], || async {
        let last = PeId(chare::pes() - 1);
        for len in [100, 20_000] {
            let members = MemberProxy::create(ArrayOptions::new(2).place_by(|_| last));
            let ((total, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
            let data = SendBuffer::from(buffer(1, len, false)).on_sent(sent);
            members.take_two(1, data, pattern(2, 20_000), done);
            assert_eq!(total.await, 2 * (len as u64 + 20_000));
            assert_eq!(back.await.len(), len);
            let nobody = MemberProxy::create(0);
            let (back, sent) = chare::future::<Sent<u32>>();
            let data = SendBuffer::from(buffer(1, len, true)).on_sent(sent);
            nobody.take_two(1, data, pattern(2, 3), Callback::ignore());
            assert_eq!(back.await.len(), len);
        }
    });
}

struct Everywhere;

#[chare(group)]
impl Everywhere {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        check(3, &data);
        self.contribute(sum(data.len() as u64), done);
    }

    /// Makes a nodegroup and broadcasts to it before anybody else can have heard of it.
    #[entry]
    async fn found(this: This<Self>, done: Callback<u64>) {
        let ((total, to), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
        PerNodeProxy::create().take(SendBuffer::from(buffer(3, 9000, true)).on_sent(sent), to);
        let total: u64 = total.await;
        assert_eq!(back.await.len(), 9000);
        this.contribute(sum(total), done);
    }
}

struct PerNode;

#[chare(nodegroup)]
impl PerNode {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u32>, done: Callback<u64>) {
        check(3, &data);
        self.contribute(sum(data.len() as u64), done);
    }
}

#[test]
fn groups_and_nodegroups_receive_them_from_any_root_and_before_they_are_known() {
    on_every_path(&SHAPES, || async {
        let (pes, nodes) = (u64::from(chare::pes()), u64::from(chare::nodes()));
        let group = EverywhereProxy::create();
        let (total, done) = chare::future();
        group.take(pattern(3, 9000), done);
        assert_eq!(total.await, 9000 * pes);
        let (total, done) = chare::future();
        group.found(done);
        assert_eq!(total.await, 9000 * nodes * pes);
    });
}
