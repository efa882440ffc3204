/* threads.cpp — ordinary C++ programs with std::thread and a scheduling bug each, for `raddle explore`:
 * threads_cxx NAME [fixed]. */
#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#if __cplusplus >= 202002L
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#endif

static bool fixed;

/* What threads are called: a function that takes others, a member, an object, a lambda, and one by std::async. */
static std::mutex till;

static int price()
{
    return 1;
}

static void sells(int (*)(), int, int (*)())
{
    std::lock_guard<std::mutex> locked(till);
}

struct shop {
    void buys(int)
    {
        std::lock_guard<std::mutex> locked(till);
    }
    void operator()()
    {
        std::lock_guard<std::mutex> locked(till);
    }
};

static void callables()
{
    shop s;
    std::lock_guard<std::mutex> locked(till);
    std::thread a(sells, price, 2, price), b(&shop::buys, &s, 3), c(std::ref(s)), d([] { sells(price, 4, price); });
    auto e = std::async(std::launch::async, sells, price, 5, price);
    a.join();
}

/* Two accounts, locked in two orders. */
struct account {
    std::mutex m;
    int money = 100;
};

static void transfer(account &from, account &to)
{
    if (fixed) {
        std::scoped_lock both(from.m, to.m);
        from.money--, to.money++;
        return;
    }
    std::lock_guard<std::mutex> one(from.m), two(to.m);
    from.money--, to.money++;
}

static void bank()
{
    account a, b;
    std::thread t([&] { transfer(a, b); }), u([&] { transfer(b, a); });
    t.join();
    u.join();
    assert(a.money + b.money == 200);
}

/* A pool that is told to stop while a worker is about to wait. */
class pool {
    std::mutex m;
    std::condition_variable more;
    std::deque<std::function<void()>> jobs;
    bool stops = false;
    std::vector<std::thread> workers;

    void work()
    {
        std::unique_lock<std::mutex> l(m);
        for (;;) {
            while (jobs.empty() && !stops) more.wait(l);
            if (jobs.empty()) return;
            auto job = std::move(jobs.front());
            jobs.pop_front();
            l.unlock();
            job();
            l.lock();
        }
    }

  public:
    explicit pool(int n)
    {
        for (int i = 0; i < n; i++) workers.emplace_back([this] { work(); });
    }
    void add(std::function<void()> job)
    {
        std::lock_guard<std::mutex> l(m);
        jobs.push_back(std::move(job));
        more.notify_one();
    }
    ~pool()
    {
        {
            std::lock_guard<std::mutex> l(m);
            stops = true;
        }
        if (fixed)
            more.notify_all();
        else
            more.notify_one(); /* and the other worker? */
        for (auto &t : workers) t.join();
    }
};

static void shutdown()
{
    int done = 0;
    std::mutex m;
    {
        pool p(2);
        for (int i = 0; i < 2; i++)
            p.add([&] {
                std::lock_guard<std::mutex> l(m);
                done++;
            });
    }
    assert(done == 2);
}

/* An exception that nobody catches, in one order only. */
static void thrown()
{
    std::mutex m;
    int value = 0;
    std::thread t([&] {
        std::lock_guard<std::mutex> l(m);
        if (value == 1 && !fixed) throw std::runtime_error("too late");
        value = 1;
    });
    {
        std::lock_guard<std::mutex> l(m);
        value = 1;
    }
    t.join();
}

/* A crash in one order only. */
static void crash()
{
    std::mutex m;
    int *shared = new int(1);
    std::thread t([&] {
        std::lock_guard<std::mutex> l(m);
        if (!fixed || shared) *shared = 2;
    });
    {
        std::lock_guard<std::mutex> l(m);
        delete shared;
        shared = nullptr;
    }
    t.join();
}

/* A promise that one path forgets; the others are clean. */
static void promised()
{
    std::promise<int> p;
    std::mutex m;
    bool first = true;
    auto f = p.get_future();
    std::thread t([&] {
        std::lock_guard<std::mutex> l(m);
        if (first || fixed) p.set_value(1);
    });
    {
        std::lock_guard<std::mutex> l(m);
        first = false;
    }
    auto g = std::async(std::launch::async, [] { return 2; });
    assert(f.get() + g.get() == 3);
    t.join();
}

static void shared()
{
    std::shared_timed_mutex m;
    int value = 0;
    auto add = [&] {
        m.lock_shared();
        int seen = value;
        m.unlock_shared();
        std::unique_lock<std::shared_timed_mutex> l(m, std::chrono::seconds(1));
        if (l) value = (fixed ? value : seen) + 1;
    };
    std::thread t(add), u(add);
    t.join();
    u.join();
    assert(value == 2);
}

#if __cplusplus >= 202002L
static void waits()
{
    std::latch ready(2);
    std::barrier<> both(2);
    std::counting_semaphore<2> room(fixed ? 1 : 2);
    std::atomic<int> phase{0};
    int inside = 0;
    auto enter = [&] {
        ready.arrive_and_wait();
        both.arrive_and_wait();
        room.acquire();
        inside++;
        std::this_thread::yield();
        assert(inside == 1);
        inside--;
        room.release();
        phase++;
        phase.notify_all();
    };
    std::jthread t(enter), u(enter);
    for (int seen; (seen = phase.load()) < 2;) phase.wait(seen);
}
#endif

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"bank", bank},     {"shutdown", shutdown}, {"thrown", thrown}, {"crash", crash},
               {"promised", promised}, {"shared", shared}, {"callables", callables},
#if __cplusplus >= 202002L
               {"waits", waits},
#endif
    };
    fixed = argc > 2 && std::strcmp(argv[2], "fixed") == 0;
    for (auto &a : all)
        if (argc > 1 && std::strcmp(a.name, argv[1]) == 0) {
            a.run();
            return 0;
        }
    return 2;
}
