//! Every path: a program runs over each path between the nodes of a job.

use chare::{Job, ReachOptions};
#[cfg(feature = "sim")]
use chare_lrts::clock;
use std::sync::OnceLock;
#[cfg(feature = "sim")]
use std::time::Duration;

fn named(name: &str) -> ReachOptions {
    ReachOptions { lrts: Some(name.to_owned()), ..ReachOptions::default() }
}

/// Whether nodes of this host can copy each other's memory (CMA). If not, it says why, once.
pub(crate) fn has_cma() -> bool {
    static HAS_CMA: OnceLock<bool> = OnceLock::new();
    *HAS_CMA.get_or_init(|| {
        let tried = Job::in_process(2, 1).network(named("cma")).run(|| async {});
        tried.inspect_err(|why| println!("skipped: jobs over CMA: {why}")).is_ok()
    })
}

/// The paths between nodes of one host, by the options that choose them.
pub(crate) fn paths() -> Vec<(&'static str, ReachOptions)> {
    let mut paths = vec![
        ("shm", ReachOptions::default()),
        ("noshm", ReachOptions { noshm: true, ..ReachOptions::default() }),
        ("tcp", ReachOptions { nolocal: true, ..ReachOptions::default() }),
        ("emulated", named("emulated")),
    ];
    if has_cma() {
        paths.push(("cma", named("cma")));
    }
    // One of them with tags, which change nothing else.
    #[cfg(feature = "ofi")]
    let paths = paths.into_iter().chain(providers().into_iter().map(|provider| {
        let ofi = Some(provider.to_owned());
        (provider, ReachOptions { ofi, tags: provider == "shm", ..named("ofi") })
    }));
    #[cfg(feature = "ofi")]
    let paths = paths.collect();
    paths
}

/// Providers of libfabric that this machine has, of those that differ most.
#[cfg(feature = "ofi")]
fn providers() -> Vec<&'static str> {
    let here = chare_lrts::ofi::providers().unwrap_or_else(|why| {
        println!("skipped: jobs over libfabric: {why}");
        Vec::new()
    });
    ["tcp;ofi_rxm", "shm"].into_iter().filter(|one| here.iter().any(|name| name == one)).collect()
}

/// Seeds of random orders in which every program has to pass, too.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Seeds of simulated jobs in which every program has to pass, too: `CHARE_TEST_SEEDS` is the first and how many, as `1000+50`.
#[cfg(feature = "sim")]
fn simulated_seeds() -> std::ops::Range<u64> {
    let asked = asked_seeds().unwrap_or_else(|| "1+1".to_owned());
    let numbers =
        asked.split_once('+').and_then(|(first, count)| Some((first.parse().ok()?, count.parse().ok()?)));
    let (first, count): (u64, u64) =
        numbers.expect("CHARE_TEST_SEEDS is two numbers with a plus sign between them");
    assert!(count > 0, "CHARE_TEST_SEEDS asks for no seed");
    first..first + count
}

/// What a campaign of simulated jobs asks for; then they alone run.
pub(crate) fn asked_seeds() -> Option<String> {
    std::env::var("CHARE_TEST_SEEDS").ok().filter(|_| cfg!(feature = "sim"))
}

/// The parts of chance of a campaign's jobs: all, or those that `CHARE_TEST_CHANCE` lists, with commas between them.
#[cfg(feature = "sim")]
fn asked_chance() -> Vec<chare::Chance> {
    let Ok(asked) = std::env::var("CHARE_TEST_CHANCE") else { return chare::Chance::ALL.to_vec() };
    let parts = asked.split(',').filter(|word| !word.is_empty()).map(str::parse);
    parts.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("CHARE_TEST_CHANCE: {error}"))
}

/// The shape of a campaign's jobs if it is not the program's own: `CHARE_TEST_SHAPE` has nodes and PEs of each, as `2x1`.
#[cfg(feature = "sim")]
fn asked_shape() -> Option<(u32, u32)> {
    let asked = std::env::var("CHARE_TEST_SHAPE").ok()?;
    let shape = asked.split_once('x').and_then(|(nodes, pes)| Some((nodes.parse().ok()?, pes.parse().ok()?)));
    Some(shape.expect("CHARE_TEST_SHAPE is two numbers with an x between them"))
}

/// Tells a campaign of a job, in the file that `CHARE_TEST_MARKS` names: the marks that it passed, one a line with its hits in front, and
/// the test's name behind the milliseconds that it took; of one that failed also its shape, its seed, its messages, and why.
#[cfg(feature = "sim")]
#[expect(clippy::disallowed_methods, reason = "libtest calls a test's thread by the test's name")]
fn tell_campaign(marks: &[(&str, u64)], took: Duration, failed: Option<String>) {
    use std::io::Write;
    let Some(path) = std::env::var_os("CHARE_TEST_MARKS") else { return };
    let mut lines: String = marks.iter().map(|(mark, hits)| format!("{hits} {mark}\n")).collect();
    let test = std::thread::current();
    let test = test.name().unwrap_or_default();
    lines.push_str(&format!("test {} {test}\n", took.as_millis()));
    failed.iter().for_each(|why| lines.push_str(&format!("failed {test} {}\n", why.replace('\n', " "))));
    let file = std::fs::File::options().create(true).append(true).open(&path);
    // At once: other tests of this process write, too.
    file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("CHARE_TEST_MARKS can be written");
}

/// Shapes of which the seed draws one, for programs that pass in many: more levels of trees, and journeys over more PEs, than real jobs of
/// tests have.
#[cfg(feature = "sim")]
const WIDE: [(u32, u32); 6] = [(4, 2), (6, 1), (3, 3), (5, 1), (4, 1), (7, 2)];

/// The shapes of simulated jobs by a seed: the program's own, and in a campaign one more if it has several.
#[cfg(feature = "sim")]
fn simulated_shapes(shapes: &[(u32, u32)], seed: u64) -> Vec<(u32, u32)> {
    if let Some(shape) = asked_shape() {
        return vec![shape];
    }
    let is_for_all = asked_seeds().is_some() && shapes.len() >= 3;
    let wide = is_for_all.then(|| WIDE[seed as usize % WIDE.len()]);
    shapes.iter().copied().chain(wide).collect()
}

/// How memory moves in the jobs of a seed.
#[cfg(feature = "sim")]
pub(crate) fn fidelity_of(seed: u64) -> chare::sim::Fidelity {
    // Whatever else the numbers of seeds decide. Protocols are what there is to test.
    match seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 {
        0..3 => chare::sim::Fidelity::Emulated,
        3..6 => chare::sim::Fidelity::Leased,
        _ => chare::sim::Fidelity::Direct,
    }
}

/// The node that is lost, if that is why a job ended: what a campaign expects that asks for losses.
#[cfg(feature = "sim")]
pub(crate) fn lost_node(error: &chare::JobError) -> Option<chare::NodeId> {
    match error {
        chare::JobError::Lrts { node, cause } => cause.peer().filter(|peer| peer != node),
        _ => None,
    }
}

/// Whether a job ended because a node may keep no more because of others.
#[cfg(feature = "sim")]
pub(crate) fn wants_memory(error: &chare::JobError) -> bool {
    error.to_string().contains("that this node may keep for others")
}

/// Whether a job ended because the runtime's own code panicked: what no bytes of a peer may bring about. What stands in `api` refuses what the
/// program asks for, which may have been told nonsense.
#[cfg(feature = "sim")]
pub(crate) fn is_of_the_runtime(error: &chare::JobError) -> bool {
    match error {
        chare::JobError::Panic { cause, .. } => {
            let places = ["runtime/src", "lrts/src"];
            places.iter().any(|at| cause.contains(at)) && !cause.contains("runtime/src/api/")
        }
        _ => false,
    }
}

/// Runs a program in simulated jobs with what `with` gives them. Only once each: some programs send addresses, and some share statics with
/// those of other tests.
#[cfg(feature = "sim")]
pub(crate) fn on_simulated_paths<Fut>(
    shapes: &[(u32, u32)],
    with: impl Fn(chare::Simulation) -> chare::Simulation,
    main: &(impl Fn() -> Fut + Send + Clone + 'static),
) where
    Fut: Future<Output = ()> + 'static,
{
    let chance = asked_chance();
    let may_lose = chance.contains(&chare::Chance::Losses);
    let may_want = chance.contains(&chare::Chance::Memory);
    let may_change = chance.contains(&chare::Chance::Corruption);
    for seed in simulated_seeds() {
        for (nodes, pes) in simulated_shapes(shapes, seed) {
            let simulation = chare::Simulation::new(nodes, pes).hosts(1 + seed as u32 % nodes).seed(seed);
            let simulation = simulation.fidelity(fidelity_of(seed));
            let began = clock::now();
            let outcome = with(simulation.chance(chance.iter().copied()).audited()).run(main.clone());
            let failed = match outcome.code() {
                Ok(0) => None,
                Err(error) if may_lose && lost_node(&error).is_some() => None,
                Err(error) if may_want && wants_memory(&error) => None,
                Ok(_) if may_change => None,
                Err(error) if may_change && !is_of_the_runtime(&error) => None,
                Ok(code) => Some(format!("it ended with {code}")),
                Err(error) => Some(error.to_string()),
            };
            let told =
                failed.as_ref().map(|why| format!("{nodes}x{pes} {seed} {}: {why}", outcome.messages()));
            tell_campaign(outcome.marks(), clock::since(began), told);
            if let Some(why) = failed {
                let fidelity = fidelity_of(seed);
                panic!(
                    "{nodes}x{pes}, {fidelity:?}, simulated by seed {seed} (CHARE_TEST_SEEDS={seed}+1): {why}"
                );
            }
        }
    }
}

/// Runs a program in jobs of these shapes (nodes, PEs per node) over every path, with shuffled queues, and in simulated jobs.
pub(crate) fn on_every_path<Fut>(shapes: &[(u32, u32)], main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    on_every_real_path(shapes, main.clone());
    #[cfg(feature = "sim")]
    on_simulated_paths(shapes, |simulation| simulation, &main);
}

/// The same, without simulated jobs: for programs that wait for time or for other threads of the machine.
pub(crate) fn on_every_real_path<Fut>(shapes: &[(u32, u32)], main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    if asked_seeds().is_some() {
        return;
    }
    for (nodes, pes) in shapes {
        for (path, network) in paths() {
            let result = Job::in_process(*nodes, *pes).network(network).run(main.clone());
            assert_eq!(result.unwrap_or_else(|error| panic!("{nodes}x{pes} over {path}: {error}")), 0);
        }
        for seed in SEEDS {
            let result = Job::in_process(*nodes, *pes).shuffled(seed).run(main.clone());
            assert_eq!(result.unwrap_or_else(|error| panic!("{nodes}x{pes}, seed {seed}: {error}")), 0);
        }
    }
}
