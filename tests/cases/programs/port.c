// The kernel chooses the port of a socket, and the program computes with its number: a replay needs the same one.
#include "t.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, seen;

static int port(int type) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int file = socket(AF_INET, type, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(file, (struct sockaddr *)&address, sizeof address)) return 0;
    getsockname(file, (struct sockaddr *)&address, &length);
    close(file);
    return ntohs(address.sin_port);
}

static void *count(void *which) {
    int turns = port(which ? SOCK_STREAM : SOCK_DGRAM) % 97;
    for (int i = 0; i <= turns; i++) {
        NO("port locked");
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
        END;
    }
    YES("port bare");
    int was = seen;
    seen = was + 1;
    END;
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, count, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
