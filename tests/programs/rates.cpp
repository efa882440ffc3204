/* rates.cpp — as rates.c, with seven threads of the C++ library: rates_cxx [cxx fork COUNT FILE]. */
#include "fork_cost.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

int main(int argc, char **argv)
{
    if (argc == 5) forks(static_cast<int>(strtol(argv[3], nullptr, 10)), argv[4]);
    std::mutex m;
    std::condition_variable changed;
    std::once_flag flag;
    std::vector<std::thread> threads;
    auto shared = std::make_shared<int>(7);
    int stage = 0, onces = 0;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i, shared] {
            std::call_once(flag, [&] { onces++; });
            std::unique_lock<std::mutex> l(m);
            changed.wait(l, [&] { return stage == i; });
            stage++;
            changed.notify_all();
        });
    auto waits = std::async(std::launch::async, [&] {
        std::unique_lock<std::mutex> l(m);
        return changed.wait_for(l, std::chrono::hours(1), [&] { return stage == 4; });
    });
    auto throws = std::async(std::launch::async, [] { throw *std::make_unique<int>(3); });
    std::promise<int> p;
    std::thread setter([&] { p.set_value(5); });
    bool good = p.get_future().get() == 5 && waits.get();
    try {
        throws.get();
        good = false;
    } catch (int three) {
        good = good && three == 3;
    }
    for (auto &t : threads) t.join();
    setter.join();
    return good && onces == 1 && shared.use_count() == 1 ? 0 : 1;
}
