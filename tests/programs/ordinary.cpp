/* ordinary.cpp — as ordinary.c, with what the C++ library has: ordinary_cxx NAME [fixed]. */
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static bool fixed;

/* The future of std::async waits in its destructor, here with a lock that its task needs. */
static void async()
{
    std::mutex m;
    int sum = 0;
    auto add = [&](int n) {
        std::lock_guard<std::mutex> l(m);
        sum += n;
    };
    std::future<void> f;
    {
        std::lock_guard<std::mutex> l(m);
        f = std::async(std::launch::async, add, 1);
        if (sum == 0 && !fixed) f = {}; /* not needed any more? */
    }
    if (fixed) f.wait();
    assert(fixed ? sum == 1 : true);
}

/* Two that answer one promise: who is second throws. */
static void promise()
{
    std::promise<int> p;
    std::mutex m;
    bool done = false;
    auto answer = [&](int n) {
        if (fixed) {
            std::lock_guard<std::mutex> l(m);
            if (!done) p.set_value(n);
            done = true;
            return;
        }
        {
            std::lock_guard<std::mutex> l(m);
            if (done) return;
        }
        p.set_value(n);
        std::lock_guard<std::mutex> l(m);
        done = true;
    };
    std::thread t(answer, 1), u(answer, 2);
    assert(p.get_future().get() > 0);
    t.join();
    u.join();
}

/* A table under a shared_mutex: the reader of an entry becomes its writer, and keeps what it holds. */
static void table()
{
    std::shared_mutex m;
    std::map<std::string, int> counts{{"a", 0}};
    auto count = [&] {
        std::shared_lock<std::shared_mutex> read(m);
        auto at = counts.find("a");
        if (at == counts.end()) return;
        if (fixed) read.unlock();
        std::unique_lock<std::shared_mutex> write(m); /* never: this thread reads */
        at->second++;
    };
    auto clear = [&] {
        std::unique_lock<std::shared_mutex> write(m);
        if (!fixed) counts.clear();
    };
    std::thread t(count), u(clear);
    t.join();
    u.join();
}

/* What is waited for is destroyed by the one that waited, while the other still notifies. */
static void once()
{
    struct event {
        std::mutex m;
        std::condition_variable c;
        bool done = false;
    };
    auto e = std::make_unique<event>();
    event *raw = e.get();
    std::thread t([raw] {
        std::unique_lock<std::mutex> l(raw->m);
        raw->done = true;
        if (!fixed) l.unlock();
        raw->c.notify_one();
    });
    {
        std::unique_lock<std::mutex> l(raw->m);
        raw->c.wait(l, [raw] { return raw->done; });
    }
    e.reset();
    t.join();
}

/* A lazy value by call_once; the initialiser fails once. */
static void lazily()
{
    std::once_flag flag;
    std::mutex m;
    int tries = 0, made = 0;
    auto make = [&] {
        std::lock_guard<std::mutex> l(m);
        if (!fixed) made++;
        if (++tries == 1) throw std::runtime_error("not yet");
        if (fixed) made++;
    };
    auto use = [&] {
        for (;;) {
            try {
                std::call_once(flag, make);
                return;
            } catch (const std::runtime_error &) {
            }
        }
    };
    std::thread t(use), u(use);
    t.join();
    u.join();
    assert(made == 1);
}

/* A thread that is to stop, and is told so by a condition_variable_any with a stop_token. */
#if __cplusplus >= 202002L
static void stopping()
{
    std::mutex m;
    std::condition_variable_any c;
    bool work = false;
    int done = 0;
    std::jthread t([&](std::stop_token stop) {
        std::unique_lock<std::mutex> l(m);
        for (;;) {
            if (fixed) {
                if (!c.wait(l, stop, [&] { return work; })) return;
            } else {
                if (stop.stop_requested()) return;
                c.wait(l, [&] { return work; }); /* nobody tells this one to stop */
            }
            work = false;
            done++;
        }
    });
    {
        std::lock_guard<std::mutex> l(m);
        work = true;
    }
    c.notify_one();
    std::this_thread::yield();
    t.request_stop();
}
#endif

/* A table in stripes, each with a lock; a thread's stripe follows from its number, which is an address. */
static void striped()
{
    std::mutex locks[8];
    int used[8] = {}, total = 0;
    auto use = [&] {
        size_t mine = std::hash<std::thread::id>()(std::this_thread::get_id()) % 8;
        std::lock_guard<std::mutex> l(locks[mine]);
        used[mine]++;
        for (size_t i = 0; i < mine; i++) std::this_thread::yield();
        if (!fixed) total = used[mine];
    };
    std::thread t(use), u(use), v(use);
    t.join();
    u.join();
    v.join();
    for (int n : used) total += fixed ? n : 0;
    assert(total == 3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"async", async}, {"promise", promise}, {"table", table}, {"once", once},
               {"lazily", lazily},   {"striped", striped},
#if __cplusplus >= 202002L
               {"stopping", stopping},
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
