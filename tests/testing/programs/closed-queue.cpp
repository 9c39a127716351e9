// Main deletes a queue once it is empty; its consumer still asks it whether more is to come. The right twin joins the consumer before.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

struct Queue {
    std::mutex mutex;
    std::condition_variable ready;
    int items = 0;
    bool done = false;
};

static void consume(Queue *queue) {
    for (;;) {
        {
            std::unique_lock<std::mutex> hold(queue->mutex);
            queue->ready.wait(hold, [queue] { return queue->items > 0; });
            queue->items--;
        }
        if (queue->done)
            return;
    }
}

int main() {
    Queue *queue = new Queue;
    std::thread consumer(consume, queue);
    {
        std::lock_guard<std::mutex> hold(queue->mutex);
        queue->items = 1;
        queue->done = true;
        queue->ready.notify_one();
    }
#ifdef RIGHT
    consumer.join();
    delete queue;
#else
    for (bool empty = false; !empty;) {
        std::lock_guard<std::mutex> hold(queue->mutex);
        empty = queue->items == 0;
    }
    delete queue;
    consumer.join();
#endif
    std::puts("done");
}
