// standard.cpp: what C++20 has for threads, all of it once, with no bug: every assertion holds in every schedule.
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void stops()
{
    std::mutex m;
    std::condition_variable_any c;
    bool stopped = false;
    std::jthread t([&](std::stop_token token) {
        std::unique_lock lock(m);
        bool ready = c.wait(lock, token, [] { return false; });
        assert(!ready);
        stopped = true;
    });
    t.request_stop();
    t.join();
    assert(stopped);
}

static void meets()
{
    std::latch done(2);
    int sum = 0;
    std::barrier phase(2, [&]() noexcept { sum++; });
    auto work = [&] {
        for (int i = 0; i < 2; i++) phase.arrive_and_wait();
        done.count_down();
    };
    std::jthread a(work), b(work);
    done.wait();
    assert(sum == 2 && done.try_wait());
}

static void counts()
{
    std::counting_semaphore<4> free(0);
    std::binary_semaphore ready(0);
    std::jthread t([&] {
        free.release(2);
        ready.acquire();
    });
    free.acquire();
    assert(free.try_acquire_for(1h));
    assert(!free.try_acquire_for(10ms)); // nobody releases it
    ready.release();
}

static void atomics()
{
    std::atomic<int> state{0};
    std::atomic_flag flag;
    std::jthread t([&] {
        state.wait(0);
        flag.test_and_set();
        flag.notify_one();
    });
    state = 1;
    state.notify_all();
    flag.wait(false);
    assert(flag.test());
}

static void futures()
{
    std::packaged_task<int(int)> twice([](int x) { return 2 * x; });
    auto answer = twice.get_future();
    std::thread t(std::move(twice), 21);
    assert(answer.get() == 42);
    t.join();
    auto other = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
    try {
        other.get();
        assert(false);
    } catch (const std::runtime_error &e) {
        assert(std::string(e.what()) == "no");
    }
    assert(std::async(std::launch::deferred, [] { return 7; }).get() == 7);
    std::promise<int> never;
    assert(never.get_future().wait_for(1s) == std::future_status::timeout);
}

static void locks()
{
    std::shared_mutex m;
    std::once_flag once;
    int value = 0, made = 0;
    std::vector<std::jthread> all;
    for (int i = 0; i < 2; i++)
        all.emplace_back([&, i] {
            try {
                std::call_once(once, [&] {
                    if (made++ == 0) throw 1; // the next one does it
                });
            } catch (int) {
            }
            if (i == 0) {
                std::unique_lock lock(m);
                value++;
            } else {
                std::shared_lock lock(m);
                assert(value == 0 || value == 1);
            }
        });
    all.clear();
    assert(value == 1 && (made == 1 || made == 2));
    std::timed_mutex slow;
    std::lock_guard lock(slow);
    std::jthread([&] { assert(!slow.try_lock_for(1s)); });
}

struct counted {
    static std::atomic<int> ends;
    ~counted() { ends++; }
};
std::atomic<int> counted::ends;

static void locals()
{
    std::thread t([] {
        static thread_local counted one;
        (void)&one;
    });
    t.join();
    std::thread([] {}).detach();
    assert(counted::ends == 1);
}

int main()
{
    stops();
    meets();
    counts();
    atomics();
    futures();
    locks();
    locals();
}
