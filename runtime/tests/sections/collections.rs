//! Sections of groups and nodegroups.

use super::SHAPES;
use super::every_path::on_every_path;
use chare::prelude::*;

struct Member {
    heard: u64,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, section: MemberSectionProxy, done: Callback<u64>) {
        self.heard += 1;
        self.contribute_to(&section, sum(u64::from(chare::my_pe().0)), done);
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(set(self.heard), done);
    }
}

struct Local;

#[chare(nodegroup)]
impl Local {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn hear(&mut self, section: LocalSectionProxy, done: Callback<u64>) {
        self.contribute_to(&section, sum(1), done);
    }
}

#[test]
fn groups_and_nodegroups_have_sections_too() {
    on_every_path(&SHAPES, || async {
        let group = MemberProxy::create();
        // At once: a PE that hears of the section may not have heard of the group.
        let odd = group.section((0..chare::pes()).filter(|pe| pe % 2 == 1).map(PeId));
        let all = group.section((0..chare::pes()).map(PeId));
        let odd_sum = (0..u64::from(chare::pes())).filter(|pe| pe % 2 == 1).sum::<u64>();
        for _ in 0..4 {
            let ((one, to_one), (other, to_other)) = (chare::future(), chare::future());
            if chare::pes() > 1 {
                odd.hear(odd.clone(), to_one);
                assert_eq!(one.await, odd_sum);
            }
            all.hear(all.clone(), to_other);
            assert_eq!(other.await, (0..u64::from(chare::pes())).sum::<u64>());
        }
        let (counts, done) = chare::future();
        group.report(done);
        let expected = (0..chare::pes()).map(|pe| if pe % 2 == 1 { 8 } else { 4 }).collect::<Vec<_>>();
        assert_eq!(counts.await, expected);
        let locals = LocalProxy::create();
        let section = locals.section((0..chare::nodes()).map(chare::NodeId));
        let (nodes, done) = chare::future();
        section.hear(section.clone(), done);
        assert_eq!(nodes.await, u64::from(chare::nodes()));
    });
}
