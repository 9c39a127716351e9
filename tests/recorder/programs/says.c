// Two threads write to standard output.
#include <pthread.h>
#include <unistd.h>

static int said;

static void *say(void *unused) {
    if (write(1, "said\n", 5) == 5)
        said++;
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, say, 0);
    say(0);
    return pthread_join(other, 0);
}
