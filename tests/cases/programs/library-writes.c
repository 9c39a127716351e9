#include "t.h"
#include <arpa/inet.h>
#include <grp.h>
#include <iconv.h>
#include <inttypes.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <wchar.h>
// Functions of the library that write where their arguments point: entries of data bases, addresses of sockets, what is converted and
// found. The values that they write are often those that were there.
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct passwd user, own_user; static char names[1024], own_names[1024];
static struct sockaddr_in peer, own_peer, from; static char control[64]; static int listener, datagram, sender;
static char out[16], own_out[16]; static regmatch_t found[2], own_found[2]; static regex_t expression;
static struct addrinfo *list; static struct tm day; static struct stat64 status; static wchar_t wide[8], own_wide[8]; static char host[32];
static int numbers[4] = {4, 3, 2, 1}; static char *rest; static sigset_t set; static wchar_t text[8] = L"abc", own_text[8] = L"abc";
static int compare(const void *a, const void *b, void *sign) { return (*(int *)a - *(int *)b) * *(int *)sign; }
static void convert(char *to) {
    char in[] = "abc", *start = in; size_t left = 3, room = 8; iconv_t c = iconv_open("UTF-8", "ISO-8859-1");
    iconv(c, &start, &left, &to, &room); iconv_close(c);
}
static void meet(struct sockaddr_in *who) {
    struct sockaddr_in at; socklen_t length = sizeof at, room = sizeof *who; int c = socket(AF_INET, SOCK_STREAM, 0);
    getsockname(listener, (void *)&at, &length); connect(c, (void *)&at, length); close(accept(listener, (void *)who, &room)); close(c);
}
static void get(void) {
    char byte; struct iovec part = {&byte, 1}; struct msghdr header = {&from, sizeof from, &part, 1, control, sizeof control, 0};
    struct sockaddr_in at; socklen_t length = sizeof at; getsockname(datagram, (void *)&at, &length);
    sendto(sender, "x", 1, 0, (void *)&at, length); recvmsg(datagram, &header, 0);
}
T(A) {
    { YES("an entry of a user"); int k = user.pw_uid; k += user.pw_uid; if (k < 0) k = names[0]; END; }
    { YES("a name of a user"); int k = names[0]; k += names[0]; END; }
    { NO("an entry under a lock"); LOCK; int k = own_user.pw_uid + own_names[0]; k += own_user.pw_uid + own_names[0]; UNLOCK; END; }
    { YES("an address of a peer"); int k = peer.sin_family; k += peer.sin_family; END; }
    { NO("an address under a lock"); LOCK; int k = own_peer.sin_family; k += own_peer.sin_family; UNLOCK; END; }
    { YES("the sender of a message"); int k = from.sin_family; k += from.sin_family; END; }
    { YES("a converted text"); int k = out[1]; k += out[1]; END; }
    { NO("a converted text under a lock"); LOCK; int k = own_out[1]; k += own_out[1]; UNLOCK; END; }
    { NO("what a conversion leaves"); int k = out[9]; k += out[9]; END; }
    { YES("a place that fits"); int k = found[1].rm_so; k += found[1].rm_so; END; }
    { NO("a place that fits under a lock"); LOCK; int k = own_found[1].rm_so; k += own_found[1].rm_so; UNLOCK; END; }
    { YES("a list of addresses"); void *k = list; if (k != list) k = 0; END; }
    { YES("the name of a host"); int k = host[0]; k += host[0]; END; }
    { YES("a day"); int k = day.tm_wday; k += day.tm_wday; END; }
    { YES("the state of a large file"); long k = status.st_size; k += status.st_size; END; }
    { YES("sorted numbers"); int k = numbers[0]; k += numbers[0]; END; }
    { YES("the end of a number"); char *k = rest; if (k != rest) k = 0; END; }
    { YES("a set of signals"); long k = *(long *)&set; k += *(long *)&set; END; }
    { YES("a wide text that is searched"); int k = wcslen(text); k += wcscmp(text, L"abd"); END; }
    { NO("a wide text that is searched under a lock"); LOCK; int k = wcslen(own_text); k += wcscmp(own_text, L"abd"); UNLOCK; END; }
    { NO("what a search does not come to"); int k = wcschr(text, L'a') == text; k += wcscmp(text, L"") > 0; END; }
    { YES("wide characters"); int k = wide[0]; k += wide[0]; END; }
    return 0;
}
T(B) {
    struct passwd *user_found; char *end; int sign = 1; struct addrinfo hint = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    getpwuid_r(0, &user, names, sizeof names, &user_found);
    LOCK; getpwuid_r(0, &own_user, own_names, sizeof own_names, &user_found); UNLOCK;
    meet(&peer);
    LOCK; meet(&own_peer); UNLOCK;
    get();
    convert(out);
    LOCK; convert(own_out); UNLOCK;
    regexec(&expression, "xab", 2, found, 0);
    LOCK; regexec(&expression, "xab", 2, own_found, 0); UNLOCK;
    getaddrinfo("127.0.0.1", 0, &hint, &list);
    struct sockaddr_in at = {.sin_family = AF_INET}; at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    getnameinfo((void *)&at, sizeof at, host, sizeof host, 0, 0, NI_NUMERICHOST);
    day.tm_year = 100; day.tm_mday = 1; timegm(&day);
    stat64("/", &status);
    qsort_r(numbers, 4, sizeof *numbers, compare, &sign);
    strtoimax("12x", &rest, 10);
    sigemptyset(&set);
    text[1] = L'x';
    LOCK; own_text[1] = L'x'; UNLOCK;
    wcpncpy(wide, L"abc", 8);
    return 0;
}
int main() {
    struct sockaddr_in any = {.sin_family = AF_INET}; any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0); bind(listener, (void *)&any, sizeof any); listen(listener, 4);
    datagram = socket(AF_INET, SOCK_DGRAM, 0); bind(datagram, (void *)&any, sizeof any); sender = socket(AF_INET, SOCK_DGRAM, 0);
    regcomp(&expression, "x(a)b", REG_EXTENDED);
    pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b);
    printf("%d %d %d %s %s\n", peer.sin_family, numbers[0], (int)found[1].rm_so, out, host);
    return 0;
}
