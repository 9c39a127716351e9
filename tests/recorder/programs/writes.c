// Functions of the C library write into memory of the program, which another thread reads. With LOCKED both do so under a lock.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static wchar_t swprintf_wrote[8], vswprintf_wrote[8], fgetws_wrote[4], wcscpy_wrote[8], wcsncpy_wrote[4], wcscat_wrote[8] = L"a",
    wcsncat_wrote[8] = L"a", wcpcpy_wrote[8], mbsrtowcs_wrote[8], wcsftime_wrote[8];
static char wcsrtombs_wrote[8], wcrtomb_wrote[8], strxfrm_wrote[8], mkstemp_wrote[] = "/tmp/XXXXXX", recvmsg_wrote[4], preadv_wrote[4],
    readlinkat_wrote[64], strerror_r_wrote[64], pthread_getname_np_wrote[16];
static int vsscanf_wrote;
static fd_set select_wrote;
static struct pollfd ppoll_wrote;
static struct timespec timespec_get_wrote;
static struct sysinfo sysinfo_wrote;
static struct statvfs statvfs_wrote;
static struct statfs fstatfs_wrote;
static struct statx statx_wrote;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static int scans(const char *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int found = vsscanf(text, format, list);
    va_end(list);
    return found;
}

static int prints(wchar_t *to, size_t size, const wchar_t *format, ...) {
    va_list list;
    va_start(list, format);
    int printed = vswprintf(to, size, format, list);
    va_end(list);
    return printed;
}

#define MUST(condition) ((condition) ? (void)0 : (perror(#condition), abort()))

static void writes(void) {
    int pair[2], file = open("/proc/self/exe", O_RDONLY);
    MUST(file >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    MUST(swprintf(swprintf_wrote, 8, L"%d", 12) == 2);
    MUST(prints(vswprintf_wrote, 8, L"%d", 12) == 2);
    FILE *text = tmpfile();
    MUST(text && fputws(L"wide\n", text) >= 0);
    rewind(text);
    MUST(fgetws(fgetws_wrote, 4, text) && fgetws_wrote[2] == L'd');
    fclose(text);
    wcscpy(wcscpy_wrote, L"ab");
    wcsncpy(wcsncpy_wrote, L"ab", 4);
    wcscat(wcscat_wrote, L"bc");
    wcsncat(wcsncat_wrote, L"bc", 1);
    wcpcpy(wcpcpy_wrote, L"ab");
    MUST(!wcscmp(wcscat_wrote, L"abc") && !wcscmp(wcsncat_wrote, L"ab"));
    const char *narrow = "ab";
    const wchar_t *wide = L"ab";
    mbstate_t state = {0};
    MUST(mbsrtowcs(mbsrtowcs_wrote, &narrow, 8, &state) == 2 && wcsrtombs(wcsrtombs_wrote, &wide, 8, &state) == 2);
    MUST(wcrtomb(wcrtomb_wrote, L'a', &state) == 1);
    time_t moment = 0;
    struct tm broken;
    MUST(wcsftime(wcsftime_wrote, 8, L"%Y", gmtime_r(&moment, &broken)) == 4);
    MUST(strxfrm(strxfrm_wrote, "ab", 8) < 8);
    int made = mkstemp(mkstemp_wrote);
    MUST(made >= 0 && !close(made) && !unlink(mkstemp_wrote));
    MUST(scans("12", "%d", &vsscanf_wrote) == 1 && vsscanf_wrote == 12);
    struct iovec part = {recvmsg_wrote, 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    MUST(write(pair[0], "ab", 2) == 2);
    FD_SET(pair[1], &select_wrote);
    struct timeval never = {5, 0};
    MUST(select(pair[1] + 1, &select_wrote, 0, 0, &never) == 1);
    ppoll_wrote = (struct pollfd){pair[1], POLLIN, 0};
    MUST(ppoll(&ppoll_wrote, 1, 0, 0) == 1 && recvmsg(pair[1], &message, 0) == 2);
    part.iov_base = preadv_wrote;
    MUST(preadv(file, &part, 1, 0) == 4);
    MUST(readlinkat(AT_FDCWD, "/proc/self/cwd", readlinkat_wrote, 64) > 0);
    strerror_r(12345, strerror_r_wrote, 64);
    MUST(!pthread_getname_np(pthread_self(), pthread_getname_np_wrote, 16));
    MUST(timespec_get(&timespec_get_wrote, TIME_UTC) && !sysinfo(&sysinfo_wrote));
    MUST(!statvfs("/", &statvfs_wrote) && !fstatfs(file, &fstatfs_wrote));
    MUST(!statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &statx_wrote));
    close(pair[0]), close(pair[1]), close(file);
}

#define FIRST(memory) *(volatile char *)&memory

static int reads(void) {
    int sum = FIRST(swprintf_wrote) + FIRST(vswprintf_wrote) + FIRST(fgetws_wrote) + FIRST(wcscpy_wrote) + FIRST(wcsncpy_wrote);
    sum += FIRST(wcscat_wrote[1]) + FIRST(wcsncat_wrote[1]) + FIRST(wcpcpy_wrote) + FIRST(mbsrtowcs_wrote) + FIRST(wcsftime_wrote);
    sum += FIRST(wcsrtombs_wrote) + FIRST(wcrtomb_wrote) + FIRST(strxfrm_wrote) + FIRST(mkstemp_wrote[5]) + FIRST(recvmsg_wrote);
    sum += FIRST(preadv_wrote) + FIRST(readlinkat_wrote) + FIRST(strerror_r_wrote) + FIRST(pthread_getname_np_wrote);
    sum += FIRST(vsscanf_wrote) + FIRST(select_wrote) + FIRST(ppoll_wrote.revents) + FIRST(timespec_get_wrote);
    sum += FIRST(sysinfo_wrote) + FIRST(statvfs_wrote) + FIRST(fstatfs_wrote) + FIRST(statx_wrote);
    return sum + FIRST(swprintf_wrote);
}

static void *writer(void *unused) {
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    writes();
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    total = reads();
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, 0);
    return 0;
}
