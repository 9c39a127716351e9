// A thread serves a client on a port that is always the same: of two runs at the same time one does not get it.
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int served;

static void *serve(void *listener) {
    char greeting[3];
    int client = accept(*(int *)listener, NULL, NULL);
    if (client < 0 || read(client, greeting, sizeof greeting) != sizeof greeting) {
        exit(3);
    }
    served++;
    close(client);
    return NULL;
}

int main(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int again = 1, listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 1)) {
        return 2;
    }
    pthread_t server;
    pthread_create(&server, NULL, serve, &listener);
    if (connect(client, (struct sockaddr *)&here, sizeof here) || write(client, "hey", 3) != 3) {
        return 2;
    }
    pthread_join(server, NULL);
    return served != 1;
}
