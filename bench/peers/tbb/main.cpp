// The oneTBB peer: task_group inside a task_arena. bench/peers/README.md says what each workload does.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/version.h>

using oneapi::tbb::global_control;
using oneapi::tbb::task_arena;
using oneapi::tbb::task_group;
using steady = std::chrono::steady_clock;

struct figure {
    double value;
    const char *unit;
    uint64_t checksum;
};
using figures = std::vector<figure>;

static double ns_since(steady::time_point start)
{
    return std::chrono::duration<double, std::nano>(steady::now() - start).count();
}

// Where tasks leave their numbers: one slot each, touched before the clock starts.
static std::vector<uint32_t> make_slots(uint64_t count)
{
    return std::vector<uint32_t>(count, UINT32_MAX);
}

static uint64_t sum_of(const std::vector<uint32_t> &slots)
{
    uint64_t sum = 0;
    for (uint32_t number : slots) sum += number;
    return sum;
}

// ---- fib ----------------------------------------------------------------------------------------

static uint64_t fib(uint64_t n)
{
    if (n < 2) return n;
    uint64_t left;
    task_group join;
    join.run([&left, n] { left = fib(n - 1); });
    uint64_t right = fib(n - 2);
    join.wait();
    return left + right;
}

// fib(n + 1) - 1: how many calls of fib(n) spawn.
static uint64_t fib_spawns(uint64_t n)
{
    uint64_t before = 0, current = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t next = before + current;
        before = current;
        current = next;
    }
    return current - 1;
}

static figures run_fib(uint64_t n)
{
    auto start = steady::now();
    uint64_t value = fib(n);
    return {{ns_since(start) / double(fib_spawns(n)), "ns", value}};
}

// ---- spawn and join -----------------------------------------------------------------------------

// Spawns `count` tasks in batches, each joined before the next begins.
static figures spawn_batches(uint64_t count, uint64_t batch)
{
    std::vector<uint32_t> slots = make_slots(count);
    uint32_t *slot = slots.data();
    task_group join;
    auto start = steady::now();
    for (uint64_t first = 0; first < count; first += batch) {
        for (uint64_t number = first; number < first + batch; number++)
            join.run([slot, number] { slot[number] = uint32_t(number); });
        join.wait();
    }
    double elapsed_ns = ns_since(start);
    return {{elapsed_ns / double(count), "ns", sum_of(slots)}};
}

static figures run_spawn_one(uint64_t count)
{
    return spawn_batches(count, 1);
}

static figures run_spawn_batches(uint64_t count)
{
    return spawn_batches(count, 10000);
}

static figures run_burst(uint64_t count)
{
    return spawn_batches(count, count);
}

// ---- chain --------------------------------------------------------------------------------------

struct chain {
    uint64_t length, hash;
    task_group join;

    void link(uint64_t number)
    {
        hash = hash * 31 + number;
        if (number + 1 < length) join.run([this, number] { link(number + 1); });
    }
};

static figures run_chain(uint64_t length)
{
    chain c{.length = length, .hash = 0, .join = {}};
    auto start = steady::now();
    c.join.run([&c] { c.link(0); });
    c.join.wait();
    return {{ns_since(start) / double(length), "ns", c.hash}};
}

// ---- tree ---------------------------------------------------------------------------------------

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static unsigned child_count(uint64_t state, uint64_t levels_below)
{
    unsigned count = 0;
    for (uint64_t bytes = state; levels_below > 0 && count < 8 && (bytes & 255) < 192; bytes >>= 8) count++;
    return count;
}

static uint64_t child_state(uint64_t state, unsigned index)
{
    return mix(state + (index + 1) * 0x9e3779b97f4a7c15u);
}

// The number of nodes from here on down.
static uint64_t count_nodes(uint64_t state, uint64_t levels_below)
{
    unsigned children = child_count(state, levels_below);
    if (children == 0) return 1;
    uint64_t below[8];
    task_group join;
    for (unsigned i = 0; i < children; i++)
        join.run([&below, state, levels_below, i] { below[i] = count_nodes(child_state(state, i), levels_below - 1); });
    join.wait();
    uint64_t count = 1;
    for (unsigned i = 0; i < children; i++) count += below[i];
    return count;
}

static figures run_tree(uint64_t depth)
{
    auto start = steady::now();
    uint64_t count = count_nodes(mix(541), depth);
    return {{ns_since(start) / 1e6, "ms", count}};
}

// ---- skynet -------------------------------------------------------------------------------------

static uint64_t skynet(uint64_t first, uint64_t leaves)
{
    if (leaves == 1) return first;
    uint64_t sums[10];
    task_group join;
    for (unsigned i = 0; i < 10; i++)
        join.run([&sums, first, leaves, i] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
    join.wait();
    uint64_t total = 0;
    for (uint64_t sum : sums) total += sum;
    return total;
}

static figures run_skynet(uint64_t leaves)
{
    auto start = steady::now();
    uint64_t sum = skynet(0, leaves);
    return {{ns_since(start) / 1e6, "ms", sum}};
}

// ---- From outside: inject and wake --------------------------------------------------------------

static figures run_inject(task_arena &arena, uint64_t count)
{
    std::vector<uint32_t> slots = make_slots(count);
    uint32_t *slot = slots.data();
    std::latch left{ptrdiff_t(count)};
    auto start = steady::now();
    for (uint64_t number = 0; number < count; number++) {
        arena.enqueue([slot, number, &left] {
            slot[number] = uint32_t(number);
            left.count_down();
        });
    }
    left.wait();
    double elapsed_ns = ns_since(start);
    return {{elapsed_ns / double(count), "ns", sum_of(slots)}};
}

// The latch blocks in the kernel, after some ten turns of spinning.
static figures wake(task_arena &arena, uint64_t count, std::chrono::microseconds gap)
{
    std::vector<double> latencies_us;
    for (uint64_t i = 0; i < count; i++) {
        std::latch ran{1};
        double latency_ns = 0;
        std::this_thread::sleep_for(gap);
        auto submitted = steady::now();
        arena.enqueue([submitted, &latency_ns, &ran] {
            latency_ns = ns_since(submitted);
            ran.count_down();
        });
        ran.wait();
        latencies_us.push_back(latency_ns / 1e3);
    }
    std::sort(latencies_us.begin(), latencies_us.end());
    return {{latencies_us[count * 50 / 100], "us-p50", count}, {latencies_us[count * 99 / 100], "us-p99", count}};
}

static figures run_wake(task_arena &arena, uint64_t count)
{
    return wake(arena, count, std::chrono::microseconds(500));
}

static figures run_wake_5ms(task_arena &arena, uint64_t count)
{
    return wake(arena, count, std::chrono::microseconds(5000));
}

// ---- The table of workloads ---------------------------------------------------------------------

static const struct workload {
    const char *name;
    figures (*inside)(uint64_t size);                     // runs as a task of the arena, or
    figures (*outside)(task_arena &arena, uint64_t size); // on a thread that is none of its workers
    uint64_t full, tiny;
} WORKLOADS[] = {
    {"fib", run_fib, nullptr, 32, 16},
    {"spawn1", run_spawn_one, nullptr, 1000000, 1000},
    {"spawnb", run_spawn_batches, nullptr, 1000000, 10000},
    {"burst", run_burst, nullptr, 1000000, 1000},
    {"chain", run_chain, nullptr, 1000000, 1000},
    {"inject", nullptr, run_inject, 1000000, 1000},
    {"tree", run_tree, nullptr, 14, 8},
    {"skynet", run_skynet, nullptr, 1000000, 1000},
    {"wake", nullptr, run_wake, 2000, 20},
    {"wake5ms", nullptr, run_wake_5ms, 300, 5},
};

// The main thread counts as one of max_allowed_parallelism, so outside the arena it comes on top.
static figures run(const workload &w, int workers, bool tiny)
{
    uint64_t size = tiny ? w.tiny : w.full;
    global_control threads(global_control::max_allowed_parallelism, size_t(workers) + (w.outside ? 1 : 0));
    if (w.outside) {
        task_arena arena(workers, 0);
        w.outside(arena, w.tiny); // warms up
        return w.outside(arena, size);
    }
    task_arena arena(workers, 1);
    return arena.execute([&] {
        w.inside(w.tiny); // warms up
        return w.inside(size);
    });
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("oneTBB %d.%d\n", TBB_VERSION_MAJOR, TBB_VERSION_MINOR);
        return 0;
    }
    bool tiny = argc == 4 && strcmp(argv[3], "--tiny") == 0;
    int workers = argc >= 3 ? atoi(argv[2]) : 0;
    if (workers < 1 || (argc != 3 && !tiny)) {
        fprintf(stderr, "usage: tbb WORKLOAD WORKERS [--tiny]\n");
        return 2;
    }
    for (const workload &w : WORKLOADS) {
        if (strcmp(w.name, argv[1]) != 0) continue;
        for (const figure &f : run(w, workers, tiny))
            printf("RESULT %.3f %s %llu\n", f.value, f.unit, static_cast<unsigned long long>(f.checksum));
        return 0;
    }
    fprintf(stderr, "tbb: no workload '%s'\n", argv[1]);
    return 2;
}
