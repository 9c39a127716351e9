// Other processes, in every way: each says what it is, and its status is seen.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int count;

static void *add(void *unused) {
    count++;
    return unused;
}

static void a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    pthread_join(thread, 0);
}

static void report(const char *what, int status) {
    printf("%s: %d\n", what, WEXITSTATUS(status));
    fflush(stdout);
}

static void await(const char *what, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    report(what, status);
}

int main(int count_of_arguments, char **arguments) {
    char *child[] = {arguments[0], "child", 0};
    if (count_of_arguments > 1) {
        a_thread();
        printf("child, told to record: %d\n", getenv("FORETRACE_MODE") != 0);
        return 4;
    }
    a_thread();
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        a_thread();
        printf("forked\n");
        exit(3);
    }
    await("fork", process);
    process = vfork();
    if (process == 0) {
        execv(arguments[0], child);
        _exit(99);
    }
    await("vfork", process);
    posix_spawn(&process, arguments[0], 0, 0, child, environ);
    await("posix_spawn", process);
    report("system", system("exit 6"));
    a_thread();
    execl("/bin/sh", "sh", "-c", "echo became a shell; exit $((4 + $0))", count == 2 ? "3" : "0", (char *)0);
    return 98;
}
