//! Tests of a job's decisions, event by event, under a clock of the test's own.

#![expect(clippy::disallowed_methods, reason = "begins anywhere")]

use super::*;

/// A job and its time.
struct Story {
    job: Job,
    now: Instant,
}

impl Story {
    /// Nodes in blocks over named hosts, all started, with pids that are 100 above their number.
    fn of(hosts: &[(&str, u32)], must_join: bool) -> Self {
        let now = Instant::now();
        let states = hosts.iter().map(|(name, nodes)| HostState::new(Some((*name).into()), *nodes)).collect();
        let mut story = Self { job: Job::new(states, must_join, Duration::from_secs(30), now), now };
        for host in 0..hosts.len() {
            story.hear(host, FromAgent::Ready { greeting: GREETING.into() });
        }
        for node in 0..story.job.nodes.len() as u32 {
            let host = story.job.nodes[node as usize].host;
            story.hear(host, FromAgent::Started { node: NodeId(node), pid: 100 + node });
        }
        story
    }

    /// Two nodes of one host that have joined.
    fn joined() -> Self {
        let mut story = Self::of(&[("a", 2)], true);
        story.say(0, FromNode::Hello { protocol: 1 }).say(1, FromNode::Hello { protocol: 1 });
        story
    }

    fn hear(&mut self, host: usize, event: FromAgent) -> &mut Self {
        self.job.hear(host, event, self.now);
        self
    }

    fn say(&mut self, node: u32, message: FromNode) -> &mut Self {
        let host = self.job.nodes[node as usize].host;
        self.hear(host, FromAgent::Said { node: NodeId(node), message })
    }

    fn exit(&mut self, node: u32, exit: Exit) -> &mut Self {
        let host = self.job.nodes[node as usize].host;
        self.hear(host, FromAgent::Exited { node: NodeId(node), exit })
    }

    fn wait(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self.job.tick(self.now);
        self
    }

    fn line(&mut self) -> Option<String> {
        self.job.take_line()
    }
}

fn lost(peer: u32) -> FromNode {
    FromNode::Lost { peer: NodeId(peer), message: "silence".into() }
}

#[test]
fn a_job_whose_nodes_finish_ends_well() {
    let mut story = Story::joined();
    for node in 0..2 {
        story.say(node, FromNode::Finished { code: 0 }).exit(node, Exit::Code(0));
    }
    assert!(!story.job.is_over(story.now), "output may be on its way");
    story.hear(0, FromAgent::Done);
    assert!(story.job.is_over(story.now));
    assert_eq!((story.line(), story.job.code(), story.job.has_failed()), (None, 0, false));
}

#[test]
fn the_first_bad_code_is_the_jobs_and_needs_no_words() {
    let mut story = Story::joined();
    for (node, code) in [(1, 7), (0, 9)] {
        story.say(node, FromNode::Finished { code }).exit(node, Exit::Code(code));
    }
    story.hear(0, FromAgent::Done);
    assert_eq!((story.line(), story.job.code()), (None, 7));
}

#[test]
fn ordinary_programs_need_not_join() {
    let mut story = Story::of(&[("a", 2)], false);
    story.exit(0, Exit::Code(0)).exit(1, Exit::Code(0));
    assert_eq!(story.line(), None, "a third could be a node");
    story.hear(0, FromAgent::Done);
    let line = story.line().unwrap();
    assert!(line.starts_with("chare: none of the 2 processes joined the job: each ran by itself"), "{line}");
    assert_eq!((story.line(), story.job.code(), story.job.next_deadline()), (None, 1, None));
    let mut story = Story::of(&[("a", 2)], false);
    story.exit(0, Exit::Code(3)).wait(BETTER_CAUSE);
    assert_eq!(story.line().unwrap(), "chare: node 0 (pid 100) on host a exited with code 3");
    assert_eq!(story.job.code(), 3);
}

#[test]
fn a_job_that_nobody_joins_is_told_of_once_while_it_runs() {
    let mut story = Story::of(&[("a", 2)], false);
    assert_eq!(story.job.next_deadline(), Some(story.now + Duration::from_secs(30)));
    story.wait(Duration::from_secs(30));
    let line = story.line().unwrap();
    assert!(line.contains("none of the 2 processes has joined the job after 30 s"), "{line}");
    assert_eq!(story.job.next_deadline(), None, "it was told");
    story.exit(0, Exit::Code(0)).exit(1, Exit::Code(0)).hear(0, FromAgent::Done);
    assert_eq!((story.line(), story.job.code()), (None, 1));
}

#[test]
fn a_program_that_fails_or_is_joined_is_no_stranger() {
    let mut story = Story::of(&[("a", 1)], false);
    story.exit(0, Exit::Code(3)).wait(BETTER_CAUSE).hear(0, FromAgent::Done);
    assert!(story.line().unwrap().contains("exited with code 3"));
    assert_eq!(story.line(), None);
    let mut story = Story::of(&[("a", 1)], false);
    story.say(0, FromNode::Hello { protocol: 1 }).wait(Duration::from_secs(60));
    assert_eq!(story.line(), None);
}

#[test]
fn an_ordinary_end_is_a_loss_once_somebody_joins() {
    let mut story = Story::of(&[("a", 2)], false);
    story.exit(0, Exit::Code(0)).say(1, FromNode::Hello { protocol: 1 }).wait(BETTER_CAUSE);
    assert!(story.line().unwrap().contains("node 0 (pid 100) on host a exited with code 0 before it joined"));
    assert_eq!(story.job.code(), 1);
}

#[test]
fn a_kill_is_named_at_once() {
    let mut story = Story::joined();
    story.exit(1, Exit::Signal(9));
    let line = story.line().unwrap();
    assert!(line.starts_with("chare: node 1 (pid 101) on host a was killed by signal 9 (SIGKILL)"), "{line}");
    let orders = story.job.take_orders();
    assert!(matches!(&orders[..], [ToAgent::Abort { message }] if message.contains("SIGKILL")), "{orders:?}");
    story.exit(0, Exit::Code(1));
    assert_eq!((story.line(), story.job.code()), (None, 137));
}

#[test]
fn a_death_is_better_than_hearsay_about_it() {
    let mut story = Story::joined();
    story.say(0, lost(1));
    assert_eq!(story.line(), None);
    story.exit(1, Exit::Signal(11));
    assert!(story.line().unwrap().contains("node 1 (pid 101) on host a was killed by signal 11 (SIGSEGV)"));
}

#[test]
fn own_words_are_better_than_hearsay_and_wait_as_long() {
    let mut story = Story::joined();
    story.say(0, lost(1)).say(1, FromNode::Failed { message: "it panicked".into() });
    story.wait(BETTER_CAUSE - Duration::from_millis(1));
    assert_eq!(story.line(), None);
    story.wait(Duration::from_millis(1));
    assert_eq!(story.line().unwrap(), "chare: node 1 (pid 101) on host a failed: it panicked");
    // The aborting exit of a node that told its trouble is no news, but its code is.
    story.exit(1, Exit::Code(101));
    assert_eq!((story.line(), story.job.code()), (None, 101));
}

#[test]
fn hearsay_must_do_when_nobody_knows_better() {
    let mut story = Story::joined();
    story.say(0, lost(1)).wait(BETTER_CAUSE);
    assert_eq!(story.line().unwrap(), "chare: node 0 (pid 100) on host a lost node 1: silence");
    assert_eq!(story.job.code(), 1);
}

#[test]
fn nobody_waits_for_better_causes_when_all_are_gone() {
    let mut story = Story::joined();
    story.say(0, FromNode::Failed { message: "no".into() }).exit(0, Exit::Signal(6)).exit(1, Exit::Code(1));
    assert!(
        story.line().unwrap().contains("node 1 (pid 101) on host a exited with code 1 without finishing")
    );
    let mut story = Story::joined();
    story.say(0, FromNode::Failed { message: "no".into() }).say(1, lost(0));
    story.exit(0, Exit::Signal(6)).exit(1, Exit::Code(1));
    assert!(story.line().unwrap().contains("node 0 (pid 100) on host a failed: no"));
}

#[test]
fn leaving_without_finishing_is_a_loss() {
    let mut story = Story::joined();
    story.exit(1, Exit::Code(0)).wait(BETTER_CAUSE);
    assert!(
        story.line().unwrap().contains("node 1 (pid 101) on host a exited with code 0 without finishing")
    );
    assert_eq!(story.job.code(), 1);
}

#[test]
fn the_watchdog_names_who_has_not_arrived() {
    let mut story = Story::of(&[("a", 2), ("b", 2)], false);
    for node in 0..3 {
        story.say(node, FromNode::Hello { protocol: 1 });
    }
    assert_eq!(story.job.next_deadline(), Some(story.now + Duration::from_secs(30)));
    story.wait(Duration::from_secs(30));
    assert!(story.line().unwrap().contains("node 3 (pid 103) on host b has not arrived after 30 s"));
}

#[test]
fn the_watchdog_watches_rounds_too_and_names_no_more_than_it_must() {
    let mut story = Story::of(&[("a", 12)], true);
    assert!(story.job.next_deadline().is_some());
    for node in 0..12 {
        story.say(node, FromNode::Hello { protocol: 1 });
    }
    assert_eq!(story.job.next_deadline(), None);
    story.say(5, FromNode::Gather { round: 0, value: vec![1] });
    story.wait(Duration::from_secs(30));
    let line = story.line().unwrap();
    assert!(
        line.contains("node 0 (pid 100) on host a, node 1") && line.contains("and 3 more have not"),
        "{line}"
    );
    assert!(!line.contains("node 5"), "{line}");
}

#[test]
fn a_silent_or_strange_host_is_named() {
    let now = Instant::now();
    let hosts = || vec![HostState::new(Some("b".into()), 1)];
    let mut job = Job::new(hosts(), false, Duration::from_secs(30), now);
    job.tick(now + Duration::from_secs(30));
    assert!(job.take_line().unwrap().contains("host b has not answered after 30 s"));
    let mut job = Job::new(hosts(), false, Duration::from_secs(30), now);
    job.hear(0, FromAgent::Ready { greeting: "hello".into() }, now);
    assert!(job.take_line().unwrap().contains("host b was lost: `hello` answers there"));
    assert!(job.is_over(now));
}

#[test]
fn a_lost_host_takes_its_nodes_along() {
    let mut story = Story::of(&[("a", 1), ("b", 1)], false);
    story.say(0, FromNode::Hello { protocol: 1 }).say(1, FromNode::Hello { protocol: 1 });
    story.say(0, lost(1));
    story.job.lose_host(1, "its remote shell exited with code 255".into(), story.now);
    assert_eq!(story.line().unwrap(), "chare: host b was lost: its remote shell exited with code 255");
    story.exit(0, Exit::Code(1)).hear(0, FromAgent::Done);
    assert!(story.job.is_over(story.now));
    assert_eq!(story.job.code(), 1);
}

#[test]
fn an_agent_speaks_for_its_own_nodes_only() {
    for node in [0, 2, u32::MAX] {
        let mut story = Story::of(&[("a", 1), ("b", 1)], false);
        story.hear(1, FromAgent::Exited { node: NodeId(node), exit: Exit::Code(0) });
        assert!(story.line().unwrap().contains("host b was lost"));
    }
}

#[test]
fn signals_are_passed_on_and_the_second_one_insists() {
    let mut story = Story::joined();
    story.job.signal(10, story.now);
    story.job.signal(10, story.now);
    story.job.signal(2, story.now);
    assert_eq!(story.job.take_orders().len(), 3);
    assert!(!story.job.has_failed());
    story.job.signal(15, story.now);
    assert_eq!(story.line().unwrap(), "chare: the job was ended by signal 15 (SIGTERM)");
    assert_eq!(story.job.code(), 143);
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    let mut story = Story::joined();
    story.job.signal(15, story.now);
    story.wait(TOGETHER - Duration::from_millis(1));
    story.job.signal(15, story.now);
    assert_eq!((story.job.take_orders().len(), story.job.has_failed()), (1, false));
    story.wait(Duration::from_millis(1));
    story.job.signal(15, story.now);
    assert!(story.job.has_failed());
}

#[test]
fn nodes_that_do_not_heed_sigterm_are_ended() {
    let mut story = Story::joined();
    story.job.signal(15, story.now);
    assert_eq!(story.job.next_deadline(), Some(story.now + END_PATIENCE));
    story.wait(END_PATIENCE - Duration::from_millis(1));
    assert!(!story.job.has_failed(), "they may save their work");
    story.wait(Duration::from_millis(1));
    let line = story.line().unwrap();
    assert!(line.contains("ended by signal 15 (SIGTERM): its nodes had not ended 30 s after it"), "{line}");
    assert_eq!(story.job.code(), 143);
}

#[test]
fn a_keyboard_may_be_ignored_once() {
    let mut story = Story::joined();
    story.job.signal(2, story.now);
    assert_eq!(story.job.next_deadline(), None);
    story.wait(2 * END_PATIENCE);
    assert!(!story.job.has_failed());
}

#[test]
fn a_death_by_a_signal_passed_on_is_the_users_will() {
    let mut story = Story::joined();
    story.job.signal(2, story.now);
    story.say(0, lost(1)).exit(1, Exit::Signal(2)).exit(0, Exit::Code(1));
    assert_eq!(story.line().unwrap(), "chare: the job was ended by signal 2 (SIGINT)");
    assert_eq!(story.job.code(), 130);
}

#[test]
fn an_ending_job_is_over_after_a_while_whatever_hosts_say() {
    let mut story = Story::joined();
    story.job.give_up("enough".into(), 4, story.now);
    assert!(!story.job.is_over(story.now));
    assert_eq!(story.job.next_deadline(), Some(story.now + GIVE_UP));
    story.wait(GIVE_UP);
    assert!(story.job.is_over(story.now));
    assert_eq!(story.job.code(), 4);
}

#[test]
fn a_job_whose_output_nobody_reads_ends_without_a_word() {
    let mut story = Story::joined();
    story.job.lose_reader(story.now);
    assert_eq!((story.line(), story.job.has_failed(), story.job.code()), (None, true, 141));
}

#[test]
fn a_stopped_node_is_awaited_and_named_once_for_each_stop() {
    let stopped = |signal| FromAgent::Stopped { node: NodeId(1), signal };
    let mut story = Story::joined();
    story.hear(0, stopped(Some(19))).wait(STOP_UNNOTICED / 2).hear(0, stopped(None)).wait(STOP_UNNOTICED);
    assert_eq!((story.line(), story.job.next_deadline()), (None, None), "it went on in time");
    for _ in 0..2 {
        story.hear(0, stopped(Some(19)));
        assert_eq!(story.job.next_deadline(), Some(story.now + STOP_UNNOTICED));
        story.wait(STOP_UNNOTICED);
        let line = story.line().unwrap();
        assert!(line.contains("node 1 (pid 101) on host a was stopped by signal 19 (SIGSTOP)"), "{line}");
        story.wait(100 * STOP_UNNOTICED);
        assert_eq!((story.line(), story.job.next_deadline()), (None, None), "it was told");
        story.hear(0, stopped(None));
    }
    for node in 0..2 {
        story.say(node, FromNode::Finished { code: 0 }).exit(node, Exit::Code(0));
    }
    assert_eq!((story.line(), story.job.code()), (None, 0));
}

#[test]
fn a_stop_that_keeps_nobody_waiting_is_no_trouble() {
    let mut story = Story::of(&[("a", 2)], false);
    story.hear(0, FromAgent::Stopped { node: NodeId(1), signal: Some(20) }).wait(STOP_UNNOTICED);
    assert_eq!(story.line(), None, "an ordinary program");
    let mut story = Story::joined();
    story.hear(0, FromAgent::Stopped { node: NodeId(1), signal: Some(19) }).exit(1, Exit::Signal(9));
    assert!(story.line().unwrap().contains("killed by signal 9"), "its end says more");
}
