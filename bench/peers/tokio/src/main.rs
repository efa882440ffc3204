//! The Tokio peer: spawned futures, joined by their handles, on the multi-thread runtime. bench/peers/README.md
//! says what each workload does.
mod fibers;

use std::future::Future;
use std::pin::Pin;
use std::process::exit;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

struct Figure {
    value: f64,
    unit: &'static str,
    checksum: u64,
}

struct Workload {
    name: &'static str,
    run: fn(&Runtime, u64) -> Vec<Figure>,
    full: u64,
    tiny: u64,
}

const WORKLOADS: &[Workload] = &[
    Workload { name: "fib", run: run_fib, full: 32, tiny: 16 },
    Workload { name: "spawn1", run: run_spawn_one, full: 1_000_000, tiny: 1_000 },
    Workload { name: "spawnb", run: run_spawn_batches, full: 1_000_000, tiny: 10_000 },
    Workload { name: "burst", run: run_burst, full: 1_000_000, tiny: 1_000 },
    Workload { name: "chain", run: run_chain, full: 1_000_000, tiny: 1_000 },
    Workload { name: "inject", run: run_inject, full: 1_000_000, tiny: 1_000 },
    Workload { name: "tree", run: run_tree, full: 14, tiny: 8 },
    Workload { name: "skynet", run: run_skynet, full: 1_000_000, tiny: 1_000 },
    Workload { name: "wake", run: |rt, count| run_wake(rt, count, Duration::from_micros(500)), full: 2_000, tiny: 20 },
    Workload { name: "wake5ms", run: |rt, count| run_wake(rt, count, Duration::from_millis(5)), full: 300, tiny: 5 },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (name, workers, tiny) = match words[..] {
        ["--version"] => {
            // build_peers.sh tells which it built with.
            println!("Tokio {}", option_env!("TOKIO_VERSION").unwrap_or("of unknown version"));
            return;
        }
        [name, workers] => (name, workers, false),
        [name, workers, "--tiny"] => (name, workers, true),
        _ => fail("usage: tokio WORKLOAD WORKERS [--tiny]"),
    };
    let workers: usize = workers.parse().unwrap_or_else(|_| fail("tokio: WORKERS is no number"));
    let workload = WORKLOADS
        .iter()
        .chain(fibers::WORKLOADS)
        .find(|w| w.name == name)
        .unwrap_or_else(|| fail(&format!("tokio: no workload '{name}'")));
    let runtime = Builder::new_multi_thread().worker_threads(workers).enable_time().build().expect("a runtime");
    (workload.run)(&runtime, workload.tiny); // warms up
    for figure in (workload.run)(&runtime, if tiny { workload.tiny } else { workload.full }) {
        println!("RESULT {:.3} {} {}", figure.value, figure.unit, figure.checksum);
    }
}

fn fail(text: &str) -> ! {
    eprintln!("{text}");
    exit(2)
}

fn per_operation(elapsed: Duration, operations: u64, checksum: u64) -> Vec<Figure> {
    vec![Figure { value: elapsed.as_nanos() as f64 / operations as f64, unit: "ns", checksum }]
}

fn in_total(elapsed: Duration, checksum: u64) -> Vec<Figure> {
    vec![Figure { value: elapsed.as_secs_f64() * 1e3, unit: "ms", checksum }]
}

/// Runs the root as a task on a worker, where its spawns are local; gives the time it took and its result.
fn timed_root<F>(runtime: &Runtime, root: F) -> (Duration, u64)
where
    F: Future<Output = u64> + Send + 'static,
{
    let task = runtime.spawn(async {
        let start = Instant::now();
        let checksum = root.await;
        (start.elapsed(), checksum)
    });
    runtime.block_on(task).expect("the root ends")
}

// ---- fib ------------------------------------------------------------------------------------------

// The spawned call lives in its task; only the inline one, whose type would contain itself, is boxed.
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let left = spawn_fib(n - 1);
    let right = boxed_fib(n - 2).await;
    left.await.expect("left ends") + right
}

fn spawn_fib(n: u64) -> JoinHandle<u64> {
    tokio::spawn(fib(n))
}

fn boxed_fib(n: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(fib(n))
}

/// fib(n + 1) - 1: how many calls of fib(n) spawn.
fn fib_spawns(n: u64) -> u64 {
    let (mut before, mut current) = (0, 1);
    for _ in 0..n {
        (before, current) = (current, before + current);
    }
    current - 1
}

fn run_fib(runtime: &Runtime, n: u64) -> Vec<Figure> {
    let (elapsed, value) = timed_root(runtime, fib(n));
    per_operation(elapsed, fib_spawns(n), value)
}

// ---- spawn and join -------------------------------------------------------------------------------

fn run_spawn_one(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, async move {
        let mut sum = 0;
        for number in 0..count {
            sum += tokio::spawn(async move { number }).await.expect("a task ends");
        }
        sum
    });
    per_operation(elapsed, count, sum)
}

/// Spawns `count` tasks in batches, each joined before the next begins.
async fn spawn_batches(count: u64, batch: u64) -> u64 {
    let mut handles = Vec::with_capacity(batch as usize);
    let mut sum = 0;
    for first in (0..count).step_by(batch as usize) {
        for number in first..first + batch {
            handles.push(tokio::spawn(async move { number }));
        }
        for handle in handles.drain(..) {
            sum += handle.await.expect("a task ends");
        }
    }
    sum
}

fn run_spawn_batches(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, spawn_batches(count, 10_000));
    per_operation(elapsed, count, sum)
}

fn run_burst(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, spawn_batches(count, count));
    per_operation(elapsed, count, sum)
}

// ---- chain ----------------------------------------------------------------------------------------

fn spawn_link(number: u64, length: u64, hash: u64, done: oneshot::Sender<u64>) {
    tokio::spawn(async move {
        let hash = hash.wrapping_mul(31).wrapping_add(number);
        if number + 1 < length {
            spawn_link(number + 1, length, hash, done);
        } else {
            done.send(hash).expect("the root waits");
        }
    });
}

fn run_chain(runtime: &Runtime, length: u64) -> Vec<Figure> {
    let (elapsed, hash) = timed_root(runtime, async move {
        let (done, last) = oneshot::channel();
        spawn_link(0, length, 0, done);
        last.await.expect("the last link tells")
    });
    per_operation(elapsed, length, hash)
}

// ---- inject ---------------------------------------------------------------------------------------

fn run_inject(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let mut handles = Vec::with_capacity(count as usize);
    let start = Instant::now();
    for number in 0..count {
        handles.push(runtime.spawn(async move { number }));
    }
    let sum = runtime.block_on(async {
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.expect("a task ends");
        }
        sum
    });
    per_operation(start.elapsed(), count, sum)
}

// ---- tree -----------------------------------------------------------------------------------------

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d049bb133111eb);
    x ^ x >> 31
}

fn child_count(state: u64, levels_below: u64) -> u64 {
    if levels_below == 0 {
        return 0;
    }
    state.to_le_bytes().iter().take_while(|byte| **byte < 192).count() as u64
}

fn child_state(state: u64, index: u64) -> u64 {
    mix(state.wrapping_add((index + 1).wrapping_mul(0x9e3779b97f4a7c15)))
}

/// The number of nodes from here on down.
async fn count_nodes(state: u64, levels_below: u64) -> u64 {
    let handles: Vec<JoinHandle<u64>> = (0..child_count(state, levels_below))
        .map(|index| spawn_node(child_state(state, index), levels_below - 1))
        .collect();
    let mut count = 1;
    for handle in handles {
        count += handle.await.expect("a child ends");
    }
    count
}

fn spawn_node(state: u64, levels_below: u64) -> JoinHandle<u64> {
    tokio::spawn(count_nodes(state, levels_below))
}

fn run_tree(runtime: &Runtime, depth: u64) -> Vec<Figure> {
    let (elapsed, count) = timed_root(runtime, count_nodes(mix(541), depth));
    in_total(elapsed, count)
}

// ---- skynet ---------------------------------------------------------------------------------------

async fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let handles: [JoinHandle<u64>; 10] =
        std::array::from_fn(|index| spawn_skynet(first + index as u64 * (leaves / 10), leaves / 10));
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.expect("a child ends");
    }
    sum
}

fn spawn_skynet(first: u64, leaves: u64) -> JoinHandle<u64> {
    tokio::spawn(skynet(first, leaves))
}

fn run_skynet(runtime: &Runtime, leaves: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, skynet(0, leaves));
    in_total(elapsed, sum)
}

// ---- wake -----------------------------------------------------------------------------------------

fn run_wake(runtime: &Runtime, count: u64, gap: Duration) -> Vec<Figure> {
    let latencies = (0..count).map(|_| {
        std::thread::sleep(gap);
        let submitted = Instant::now();
        let task = runtime.spawn(async move { submitted.elapsed() });
        runtime.block_on(task).expect("a task ends") // parks this thread
    });
    percentiles(latencies.collect())
}

fn percentiles(mut latencies: Vec<Duration>) -> Vec<Figure> {
    let count = latencies.len() as u64;
    latencies.sort();
    let percentile = |p: u64| latencies[(count * p / 100) as usize].as_nanos() as f64 / 1e3;
    vec![
        Figure { value: percentile(50), unit: "us-p50", checksum: count },
        Figure { value: percentile(99), unit: "us-p99", checksum: count },
    ]
}
