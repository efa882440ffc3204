// memory_queue.cc — names of C++ in reports: a queue that races (`fixed`: it does not), used by a thread of the C++ library
// and by one of pthread_create.
#include <pthread.h>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace shop {
template <class T> class Queue {
    std::vector<T> items_;
    std::mutex mutex_;
    int count_ = 0;
    bool locks_ = false;

public:
    void locks()
    {
        locks_ = true;
    }
    __attribute__((noinline)) void push(T item)
    {
        if (locks_) mutex_.lock();
        count_++;
        if (locks_) mutex_.unlock();
    }
    __attribute__((noinline)) int operator()(const std::vector<std::vector<std::pair<T, T>>> &, const Queue<T> *)
    {
        if (locks_) mutex_.lock();
        int count = count_;
        if (locks_) mutex_.unlock();
        return count;
    }
};
} // namespace shop

static shop::Queue<int> queue;

static void *looks(void *unused)
{
    std::vector<std::vector<std::pair<int, int>>> none;
    if (queue(none, nullptr) > 5) std::terminate();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 1 && std::strcmp(argv[1], "fixed") == 0) queue.locks();
    std::thread a([] { queue.push(1); });
    pthread_create(&t, nullptr, looks, nullptr);
    a.join();
    pthread_join(t, nullptr);
}
