//! The workloads of the suite `fibers`, but for spawn1 and spawnb, which main.rs has. Tokio has no channel without a
//! buffer and none with several receivers: a buffer of one, and a receiver behind a mutex, stand in.
use crate::{in_total, per_operation, percentiles, timed_root, Figure, Workload};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc as std_mpsc, Arc};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, Mutex, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout, Sleep};

pub(crate) const WORKLOADS: &[Workload] = &[
    Workload { name: "yield", run: run_yield, full: 2_000_000, tiny: 1_000 },
    Workload { name: "pingpong", run: run_ping_pong, full: 1_000_000, tiny: 1_000 },
    Workload { name: "timeout", run: run_timeout, full: 1_000_000, tiny: 1_000 },
    Workload { name: "buf11", run: run_belt_one, full: 4_000_000, tiny: 4_000 },
    Workload { name: "buf44", run: run_belt_four, full: 4_000_000, tiny: 4_000 },
    Workload { name: "select4", run: run_select, full: 1_000_000, tiny: 1_000 },
    Workload { name: "mutex", run: run_mutex, full: 1_000_000, tiny: 1_000 },
    Workload { name: "timer", run: run_timer, full: 1_000_000, tiny: 1_000 },
    Workload { name: "timer1m", run: run_timers_live, full: 1_000_000, tiny: 1_000 },
    Workload { name: "skychan", run: run_skynet, full: 1_000_000, tiny: 1_000 },
    Workload { name: "unpark", run: |rt, count| run_unpark(rt, count, 500), full: 2_000, tiny: 20 },
    Workload { name: "unpark5ms", run: |rt, count| run_unpark(rt, count, 5_000), full: 300, tiny: 5 },
    Workload { name: "parked", run: run_parked, full: 100_000, tiny: 10 },
    Workload { name: "sleep100k", run: run_sleep, full: 100_000, tiny: 100 },
    Workload { name: "sleep1m", run: run_sleep, full: 1_000_000, tiny: 100 },
];

async fn sum_of(handles: Vec<JoinHandle<u64>>) -> u64 {
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.expect("a task ends");
    }
    sum
}

// ---- Yield ------------------------------------------------------------------------------------------

async fn yielder(count: u64) -> u64 {
    let mut done = 0;
    for _ in 0..count {
        tokio::task::yield_now().await;
        done += 1;
    }
    done
}

fn run_yield(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, done) = timed_root(runtime, async move {
        sum_of((0..2).map(|_| tokio::spawn(yielder(count))).collect()).await
    });
    per_operation(elapsed, count, done)
}

// ---- Channels ---------------------------------------------------------------------------------------

async fn receive(channel: &mut mpsc::Receiver<u64>, timed: bool) -> u64 {
    let received = if timed {
        timeout(Duration::from_secs(1), channel.recv()).await.expect("in time")
    } else {
        channel.recv().await
    };
    received.expect("a value")
}

fn talk(runtime: &Runtime, count: u64, timed: bool) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, async move {
        let (there, mut there_end) = mpsc::channel(1);
        let (back, mut back_end) = mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..count {
                back.send(receive(&mut there_end, timed).await).await.expect("the root listens");
            }
        });
        let mut sum = 0;
        for i in 0..count {
            there.send(i).await.expect("the partner listens");
            sum += receive(&mut back_end, timed).await;
        }
        sum
    });
    per_operation(elapsed, count, sum)
}

fn run_ping_pong(runtime: &Runtime, count: u64) -> Vec<Figure> {
    talk(runtime, count, false)
}

fn run_timeout(runtime: &Runtime, count: u64) -> Vec<Figure> {
    talk(runtime, count, true)
}

fn run_belt_one(runtime: &Runtime, items: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, async move {
        let (belt, mut end) = mpsc::channel(128);
        tokio::spawn(async move {
            for i in 0..items {
                belt.send(i).await.expect("the root listens");
            }
        });
        let mut sum = 0;
        while let Some(value) = end.recv().await {
            sum += value;
        }
        sum
    });
    per_operation(elapsed, items, sum)
}

fn run_belt_four(runtime: &Runtime, items: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, async move {
        let (belt, end) = mpsc::channel(128);
        let end = Arc::new(Mutex::new(end));
        for _ in 0..4 {
            let belt = belt.clone();
            tokio::spawn(async move {
                for i in 0..items / 4 {
                    belt.send(i).await.expect("somebody listens");
                }
            });
        }
        let consumers = (0..4).map(|_| {
            let end = end.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for _ in 0..items / 4 {
                    sum += end.lock().await.recv().await.expect("a value");
                }
                sum
            })
        });
        sum_of(consumers.collect()).await
    });
    per_operation(elapsed, items, sum)
}

fn select_way(count: u64) -> mpsc::Receiver<u64> {
    let (way, end) = mpsc::channel(1);
    tokio::spawn(async move {
        for i in 0..count {
            way.send(i).await.expect("the root listens");
        }
    });
    end
}

fn run_select(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, async move {
        let (mut a, mut b) = (select_way(count / 4), select_way(count / 4));
        let (mut c, mut d) = (select_way(count / 4), select_way(count / 4));
        let mut sum = 0;
        for _ in 0..count {
            sum += tokio::select! {
                Some(value) = a.recv() => value,
                Some(value) = b.recv() => value,
                Some(value) = c.recv() => value,
                Some(value) = d.recv() => value,
                else => 0,
            };
        }
        sum
    });
    per_operation(elapsed, count, sum)
}

fn skynet(first: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let (out, mut results) = mpsc::channel(1);
        for i in 0..10 {
            let out = out.clone();
            tokio::spawn(async move {
                let sum = skynet(first + i * (leaves / 10), leaves / 10).await;
                out.send(sum).await.expect("the parent listens");
            });
        }
        let mut sum = 0;
        for _ in 0..10 {
            sum += results.recv().await.expect("a result");
        }
        sum
    })
}

fn run_skynet(runtime: &Runtime, leaves: u64) -> Vec<Figure> {
    let (elapsed, sum) = timed_root(runtime, skynet(0, leaves));
    in_total(elapsed, sum)
}

// ---- Mutex ------------------------------------------------------------------------------------------

fn run_mutex(runtime: &Runtime, count: u64) -> Vec<Figure> {
    const CROWD: u64 = 100;
    let (elapsed, counted) = timed_root(runtime, async move {
        let counter = Arc::new(Mutex::new(0));
        let crowd = (0..CROWD).map(|_| {
            let counter = counter.clone();
            tokio::spawn(async move {
                for _ in 0..count / CROWD {
                    *counter.lock().await += 1;
                }
                0
            })
        });
        sum_of(crowd.collect()).await;
        let counted = *counter.lock().await;
        counted
    });
    per_operation(elapsed, count, counted)
}

// ---- Timers -----------------------------------------------------------------------------------------

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

/// A timer is armed when it is polled first.
fn armed(after: Duration, waker: &Waker) -> Pin<Box<Sleep>> {
    let mut timer = Box::pin(sleep(after));
    let _ = timer.as_mut().poll(&mut Context::from_waker(waker));
    timer
}

fn run_timer(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let (elapsed, _) = timed_root(runtime, async move {
        let waker = Arc::new(Nobody).into();
        for i in 0..count {
            drop(armed(Duration::from_secs(1 + i % 1000), &waker));
        }
        0
    });
    per_operation(elapsed, count, count)
}

fn run_timers_live(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let task = runtime.spawn(async move {
        let waker = Arc::new(Nobody).into();
        let mut timers = Vec::with_capacity(count as usize);
        let start = Instant::now();
        for i in 0..count {
            timers.push(armed(Duration::from_millis(100_000 + i * 7919 % 1_000_000), &waker));
        }
        let arming = start.elapsed();
        let start = Instant::now();
        drop(timers);
        (arming, start.elapsed())
    });
    let (arming, cancelling) = runtime.block_on(task).expect("the root ends");
    let per = |d: Duration| d.as_nanos() as f64 / count as f64;
    vec![
        Figure { value: per(arming), unit: "ns-arm", checksum: count },
        Figure { value: per(cancelling), unit: "ns-cancel", checksum: count },
    ]
}

// ---- Many -------------------------------------------------------------------------------------------

/// A line of /proc/self/status in KiB.
fn status_kib(name: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// User and system time in seconds; ticks are 10 ms.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let words: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn run_sleep(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let base = if count > 1_000 { 1_000 } else { 10 };
    let cpu = cpu_seconds();
    let task = runtime.spawn(async move {
        let mut handles = Vec::with_capacity(count as usize);
        let start = Instant::now();
        for i in 0..count {
            let span = Duration::from_millis(base + i % base);
            handles.push(tokio::spawn(async move {
                let begun = Instant::now();
                sleep(span).await;
                (i, begun.elapsed().saturating_sub(span))
            }));
        }
        let spawning = start.elapsed();
        let (mut sum, mut latest) = (0, Duration::ZERO);
        for handle in handles {
            let (number, late) = handle.await.expect("a task ends");
            sum += number;
            latest = latest.max(late);
        }
        let late = start.elapsed().saturating_sub(spawning + Duration::from_millis(2 * base - 1));
        (spawning, late, latest, sum)
    });
    let (spawning, late, latest, sum) = runtime.block_on(task).expect("the root ends");
    let figure = |value: f64, unit: &'static str| Figure { value, unit, checksum: sum };
    vec![
        figure(spawning.as_secs_f64() * 1e3, "ms-spawn"),
        figure(late.as_secs_f64() * 1e3, "ms-late"),
        figure(latest.as_secs_f64() * 1e3, "ms-latest"),
        figure(cpu_seconds() - cpu, "s-CPU"),
        figure(status_kib("VmHWM:") / 1024.0, "MiB-peak"),
    ]
}

fn run_parked(runtime: &Runtime, count: u64) -> Vec<Figure> {
    let memory = || status_kib("VmRSS:") + status_kib("VmPTE:");
    let arrived = Arc::new(AtomicU64::new(0));
    let end = Arc::new(Semaphore::new(0));
    let before = memory();
    let handles = (0..count).map(|_| {
        let (arrived, end) = (arrived.clone(), end.clone());
        runtime.spawn(async move {
            arrived.fetch_add(1, Ordering::SeqCst);
            end.acquire().await.is_err() as u64 // until it is closed
        })
    });
    let handles: Vec<JoinHandle<u64>> = handles.collect();
    while arrived.load(Ordering::SeqCst) < count {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(10));
    let after = memory();
    end.close();
    let left = runtime.block_on(sum_of(handles));
    let bytes = (after - before).max(0.0) * 1024.0 / count as f64;
    vec![Figure { value: bytes, unit: "bytes", checksum: left }]
}

// ---- Waking from outside ----------------------------------------------------------------------------

fn run_unpark(runtime: &Runtime, count: u64, gap_us: u64) -> Vec<Figure> {
    let (bell, mut rings) = mpsc::channel::<Instant>(1);
    let (answer, answers) = std_mpsc::channel();
    runtime.spawn(async move {
        while let Some(rung) = rings.recv().await {
            answer.send(rung.elapsed()).expect("the thread listens");
        }
    });
    let latencies = (0..count).map(|_| {
        std::thread::sleep(Duration::from_micros(gap_us));
        bell.try_send(Instant::now()).expect("there is room");
        answers.recv().expect("an answer")
    });
    percentiles(latencies.collect())
}
