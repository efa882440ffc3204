// main.cpp — Relacy as a peer of explore: the workloads of ../README.md, suite `explore`, under its random scheduler.
//
// Relacy explores C++ that uses its atomics and variables, in one process and one thread, and keeps nothing of a
// run that did not fail.
#include "../peer.h"

#include <sstream>

#include <relacy/relacy.hpp>

static uint64_t additions; // of all runs of a workload

// THREADS that add COUNT times each to one atomic; PLAIN: and each time to a variable of their own.
template <int THREADS, int COUNT, bool PLAIN>
struct adders : rl::test_suite<adders<THREADS, COUNT, PLAIN>, THREADS> {
    rl::atomic<uint64_t> total;
    rl::var<uint64_t> own[THREADS];

    void before()
    {
        total($).store(0, rl::mo_relaxed);
        for (int i = 0; i < THREADS; i++) own[i]($) = 0;
    }

    void thread(unsigned index)
    {
        for (int i = 0; i < COUNT; i++) {
            if (PLAIN) own[index]($) = own[index]($) + 1;
            total($).fetch_add(1, rl::mo_relaxed);
        }
    }

    void after()
    {
        additions += total($).load(rl::mo_relaxed);
    }
};

template <class TEST> static bench_measured explore(void *, uint64_t runs)
{
    std::ostringstream said;
    rl::test_params how;
    how.search_type = rl::random_scheduler_type;
    how.iteration_count = runs;
    how.output_stream = &said;
    how.progress_stream = &said;
    additions = 0;
    double start = bench_now(), cpu = bench_cpu();
    if (!rl::simulate<TEST>(how)) bench_fail("Relacy found a mistake where there is none");
    bench_measured m = bench_one((bench_now() - start) * 1e9 / (double)runs, "ns", additions);
    bench_add(&m, (bench_cpu() - cpu) * 1e9 / (double)runs, "ns-CPU", additions);
    return m;
}

static void measure(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples,
                    bench_measured *into)
{
    if (workers != 1) exit(2); // it has only one
    l->inside(NULL, l->tiny);
    for (uint32_t i = 0; i < samples; i++) into[i] = l->inside(NULL, size);
}

int main(int argc, char **argv)
{
    static const bench_load loads[] = {
        {"inc3", "2 × 3 atomics", explore<adders<2, 3, false>>, NULL, 2000000, 1000, false, false},
        {"inc10", "2 × 10 atomics", explore<adders<2, 10, false>>, NULL, 1000000, 1000, false,
         false},
        {"inc100", "4 × 100 atomics", explore<adders<4, 100, false>>, NULL, 30000, 100, false,
         false},
        {"code10", "2 × 10 atomics, code", explore<adders<2, 10, true>>, NULL, 500000, 1000, false,
         false},
    };
    static const bench_loads all = {"relacy", loads, sizeof loads / sizeof *loads, measure};
    return peer_main(&all, "Relacy " RELACY_VERSION, argc, argv);
}
