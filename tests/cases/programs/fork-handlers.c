// A child of fork runs handlers of pthread_atfork, which take locks: it is alone, and waits for no turn.
#include "t.h"
#include <sys/wait.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, plain, atfork_ran;
static void prepare(void) { pthread_mutex_lock(&m); }
static void release(void) { pthread_mutex_unlock(&m); }
T(forker) {
    int p[2]; char c[4] = {0};
    if (pipe(p)) abort();
    LOCK; NO("before fork"); count++; count++; END; UNLOCK;
    pid_t child = fork();
    if (!child) {
        count = 77;
        plain = 99;
        if (write(p[1], "ok", 2)) {}
        printf("");
        _exit(count == 77 ? 3 : 4);
    }
    if (read(p[0], c, 2) != 2) abort();
    int status;
    waitpid(child, &status, 0);
    YES("plain beside a fork");
    plain += WEXITSTATUS(status);
    END;
    close(p[0]); close(p[1]);
    return 0;
}
T(other) {
    for (int i = 0; i < 3; i++) { LOCK; NO("other's lock"); count++; count++; END; UNLOCK; }
    plain++;
    return 0;
}
int main() {
    pthread_atfork(prepare, release, release);
    pthread_t a, b, c;
    GO(a, forker, 0); GO(b, other, 0); GO(c, forker, 0);
    JOIN(a); JOIN(b); JOIN(c);
    printf("%d\n", count);
}
