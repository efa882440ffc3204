// The Boost.Fiber peer. bench/peers/README.md says what each workload does.
//
// One worker: round robin on one thread, stacks out of Boost's pool. More: work stealing, whose fibers end on other
// threads than they began on; the pool is for one thread only, so stacks come from malloc then.
#include "../peer.h"

#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>

#include <atomic>
#include <semaphore.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fibers = boost::fibers;
using fibers::fiber;
using unbuffered = fibers::unbuffered_channel<uint64_t>;
using buffered = fibers::buffered_channel<uint64_t>;
using namespace std::chrono_literals;

static constexpr std::size_t STACK_SIZE = 16384;
static uint32_t workers;

template <class Function> static fiber spawn(Function &&f)
{
    static boost::context::pooled_fixedsize_stack pool(STACK_SIZE);
    if (workers == 1)
        return fiber(fibers::launch::post, std::allocator_arg, pool, std::forward<Function>(f));
    return fiber(fibers::launch::post, std::allocator_arg,
                 boost::context::fixedsize_stack(STACK_SIZE), std::forward<Function>(f));
}

static void join_all(std::vector<fiber> &all)
{
    for (fiber &f : all) f.join();
    all.clear();
}

static bench_measured per_operation(double start, uint64_t operations, uint64_t checksum)
{
    return bench_one((bench_now() - start) * 1e9 / double(operations), "ns", checksum);
}

// ---- Switches and spawns ----------------------------------------------------------------------------

static bench_measured run_yield(void *, uint64_t count)
{
    uint64_t done[2] = {0, 0};
    std::vector<fiber> pair;
    double start = bench_now();
    for (uint64_t &mine : done)
        pair.push_back(spawn([&mine, count] {
            for (; mine < count; mine++) boost::this_fiber::yield();
        }));
    join_all(pair);
    return per_operation(start, count, done[0] + done[1]);
}

static bench_measured spawn_batches(uint64_t count, uint64_t batch)
{
    std::vector<uint32_t> slots(count, ~0u);
    std::vector<fiber> all;
    all.reserve(batch);
    uint64_t sum = 0;
    double start = bench_now();
    for (uint64_t first = 0; first < count; first += batch) {
        for (uint64_t i = first; i < first + batch; i++)
            all.push_back(spawn([&slots, i] { slots[i] = uint32_t(i); }));
        join_all(all);
    }
    bench_measured m = per_operation(start, count, 0);
    for (uint32_t number : slots) sum += number;
    m.figures[0].checksum = sum;
    return m;
}

static bench_measured run_spawn_one(void *, uint64_t count)
{
    return spawn_batches(count, 1);
}

static bench_measured run_spawn_batches(void *, uint64_t count)
{
    return spawn_batches(count, 10000);
}

// ---- Channels ---------------------------------------------------------------------------------------

static uint64_t receive(unbuffered &c, bool timed)
{
    uint64_t value = 0;
    if (!timed) return c.value_pop();
    if (c.pop_wait_for(value, 1s) != fibers::channel_op_status::success) bench_fail("too late");
    return value;
}

static bench_measured talk(uint64_t count, bool timed)
{
    unbuffered there, back;
    fiber partner = spawn([&] {
        for (uint64_t i = 0; i < count; i++) back.push(receive(there, timed));
    });
    uint64_t sum = 0;
    double start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        there.push(i);
        sum += receive(back, timed);
    }
    bench_measured m = per_operation(start, count, sum);
    partner.join();
    return m;
}

static bench_measured run_ping_pong(void *, uint64_t count)
{
    return talk(count, false);
}

static bench_measured run_timeout(void *, uint64_t count)
{
    return talk(count, true);
}

static bench_measured belt(uint64_t items, uint64_t pairs)
{
    buffered chan(128);
    std::atomic<uint64_t> sum{0};
    std::vector<fiber> all;
    double start = bench_now();
    for (uint64_t i = 0; i < pairs; i++) {
        all.push_back(spawn([&] {
            for (uint64_t k = 0; k < items / pairs; k++) chan.push(k);
        }));
        all.push_back(spawn([&] {
            uint64_t mine = 0;
            for (uint64_t k = 0; k < items / pairs; k++) mine += chan.value_pop();
            sum += mine;
        }));
    }
    join_all(all);
    return per_operation(start, items, sum);
}

static bench_measured run_buffered_1(void *, uint64_t items)
{
    return belt(items, 1);
}

static bench_measured run_buffered_4(void *, uint64_t items)
{
    return belt(items, 4);
}

// ---- Mutex ------------------------------------------------------------------------------------------

static bench_measured run_mutex(void *, uint64_t count)
{
    constexpr uint64_t crowd = 100;
    fibers::mutex mutex;
    uint64_t counter = 0;
    std::vector<fiber> all;
    double start = bench_now();
    for (uint64_t i = 0; i < crowd; i++)
        all.push_back(spawn([&] {
            for (uint64_t k = 0; k < count / crowd; k++) {
                mutex.lock();
                counter++;
                mutex.unlock();
            }
        }));
    join_all(all);
    return per_operation(start, count, counter);
}

// ---- Many -------------------------------------------------------------------------------------------

static bench_measured run_sleep(void *, uint64_t count)
{
    std::vector<double> late_ms(count);
    std::vector<fiber> all;
    uint64_t sum = 0;
    all.reserve(count);
    bench_sleep s = bench_sleep_begin(count);
    for (uint64_t i = 0; i < count; i++) {
        std::chrono::milliseconds time(s.base_ms + i % s.base_ms);
        all.push_back(spawn([&late_ms, time, i] {
            auto until = std::chrono::steady_clock::now() + time;
            boost::this_fiber::sleep_until(until);
            std::chrono::duration<double, std::milli> late = std::chrono::steady_clock::now() - until;
            late_ms[i] = late.count();
        }));
    }
    s.spawned = bench_now();
    join_all(all);
    s.ended = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        sum += i;
        if (late_ms[i] > s.latest_ms) s.latest_ms = late_ms[i];
    }
    return bench_sleep_end(&s, sum);
}

static bench_measured run_parked(void *, uint64_t count)
{
    buffered end(2);
    std::atomic<uint64_t> arrived{0}, left{0};
    std::vector<fiber> all;
    double before = bench_memory_kib();
    all.reserve(count);
    for (uint64_t i = 0; i < count; i++)
        all.push_back(spawn([&] {
            uint64_t none;
            arrived++;
            end.pop(none); // until it is closed
            left++;
        }));
    while (arrived < count) boost::this_fiber::sleep_for(1ms);
    boost::this_fiber::sleep_for(10ms);
    double after = bench_memory_kib();
    end.close();
    join_all(all);
    return bench_one(bench_bytes_each(before, after, count), "bytes", left);
}

// ---- Waking from outside ----------------------------------------------------------------------------

static bench_measured unpark_after(uint64_t count, std::chrono::microseconds gap)
{
    fibers::buffered_channel<double> chan(2);
    sem_t answered;
    double latency_us = 0;
    sem_init(&answered, 0, 0);
    std::vector<double> latencies_us;
    std::thread outside([&] {
        for (uint64_t i = 0; i < count; i++) {
            std::this_thread::sleep_for(gap);
            chan.push(bench_now());
            while (sem_wait(&answered) != 0) continue;
            latencies_us.push_back(latency_us);
        }
        chan.close();
    });
    fiber listener = spawn([&] {
        double rung;
        while (chan.pop(rung) == fibers::channel_op_status::success) {
            latency_us = (bench_now() - rung) * 1e6;
            sem_post(&answered);
        }
    });
    listener.join();
    outside.join();
    sem_destroy(&answered);
    return bench_percentiles(latencies_us.data(), count);
}

static bench_measured run_unpark(void *, uint64_t count)
{
    return unpark_after(count, 500us);
}

static bench_measured run_unpark_5ms(void *, uint64_t count)
{
    return unpark_after(count, 5000us);
}

// ---- The program ------------------------------------------------------------------------------------

static const bench_load WORKLOADS[] = {
    {"yield", "", run_yield, nullptr, 2000000, 1000, false, false},
    {"spawn1", "", run_spawn_one, nullptr, 1000000, 1000, false, false},
    {"spawnb", "", run_spawn_batches, nullptr, 1000000, 10000, false, false},
    {"pingpong", "", run_ping_pong, nullptr, 1000000, 1000, false, false},
    {"timeout", "", run_timeout, nullptr, 1000000, 1000, false, false},
    {"buf11", "", run_buffered_1, nullptr, 4000000, 4000, false, false},
    {"buf44", "", run_buffered_4, nullptr, 4000000, 4000, false, false},
    {"mutex", "", run_mutex, nullptr, 1000000, 1000, false, false},
    {"unpark", "", run_unpark, nullptr, 2000, 20, false, false},
    {"unpark5ms", "", run_unpark_5ms, nullptr, 300, 5, false, false},
    {"parked", "", run_parked, nullptr, 100000, 10, false, false},
    {"sleep100k", "", run_sleep, nullptr, 100000, 100, false, false},
};

// For ever one of the workers.
static void help(std::atomic<uint32_t> &ready)
{
    fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers, true);
    ready++;
    fibers::mutex mutex;
    fibers::condition_variable never;
    std::unique_lock<fibers::mutex> lock(mutex);
    never.wait(lock, [] { return false; });
}

static void measure(const bench_load *l, uint32_t count, uint64_t size, uint32_t samples,
                    bench_measured *into)
{
    static std::atomic<uint32_t> ready{1};
    workers = count;
    for (uint32_t i = 1; i < workers; i++) std::thread([] { help(ready); }).detach();
    if (workers > 1) fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(workers, true);
    while (ready < workers) std::this_thread::yield();
    spawn([&] {
        l->inside(nullptr, l->tiny);
        for (uint32_t i = 0; i < samples; i++) into[i] = l->inside(nullptr, size);
    }).join();
}

int main(int argc, char **argv)
{
    static const bench_loads ALL = {"boost", WORKLOADS, sizeof WORKLOADS / sizeof *WORKLOADS,
                                    measure};
    std::string version = "Boost.Fiber " + std::to_string(BOOST_VERSION / 100000) + "." +
                          std::to_string(BOOST_VERSION / 100 % 1000);
    int status = peer_main(&ALL, version.c_str(), argc, argv);
    std::fflush(stdout);
    _exit(status); // the other workers never end
}
