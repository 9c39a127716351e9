// Calls of the C library's functions, each with what it gives back. No argument depends on another one's call.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char a[64], b[64];

struct pair {
    int key;
    char name[5];
};

static int by_value(const void *one, const void *other) {
    int x = *(const int *)one, y = *(const int *)other;
    return (x > y) - (x < y);
}

static int by_key(const void *one, const void *other) {
    return ((const struct pair *)one)->key - ((const struct pair *)other)->key;
}

static void copies(void) {
    strcpy(a, "hello");
    printf("%zu %zu %zu\n", strlen(a), strnlen(a, 3), strnlen(a, 30));
    puts(strcat(a, " world"));
    printf("%td\n", stpcpy(b, a) - b);
    memset(b, 'x', sizeof b);
    strncpy(b, "abc", 6);
    printf("%s %d %d\n", b, b[5], b[6]);
    strncpy(b, "abcdefgh", 3);
    printf("%c%d\n", b[2], b[3]);
    memset(b, 'x', sizeof b);
    char *end = stpncpy(b, "abc", 6);
    printf("%td %s %d %d\n", end - b, b, b[5], b[6]);
    end = stpncpy(b, "defgh", 2);
    printf("%td %.3s\n", end - b, b);
    end = memccpy(b, "one:two", ':', 7);
    printf("%td %.5s\n", end - b, b);
    printf("%d %.4s\n", memccpy(b, "none", ':', 4) == 0, b);
    strcpy(b, "12");
    puts(strncat(b, "345", 2));
    puts(strncat(b, "67", 5));
    char *whole = strdup(a), *part = strndup(a, 4);
    printf("%s %s\n", whole, part);
    free(whole);
    free(part);
    void *(*copy)(void *, const void *, size_t) = memcpy;
    copy(b, "by pointer", 11);
    memmove(b + 1, b, 5);
    puts(b);
}

static void searches(void) {
    volatile int wanted = 'l';
    printf("%td %d\n", (char *)memchr(a, 'w', 11) - a, memchr(a, 'z', 11) == 0);
    printf("%td %td %d\n", strchr(a, wanted) - a, strrchr(a, wanted) - a, strchr(a, 'z') == 0);
    printf("%td %td\n", strchr(a, 0) - a, strrchr(a, 0) - a);
    printf("%td %td %td\n", strchrnul(a, wanted) - a, strchrnul(a, 'z') - a, strchrnul(a, 0) - a);
    printf("%td %zu %zu\n", strstr(a, "wor") - a, strspn(a, "ehl"), strcspn(a, "ow"));
    printf("%td %d %d\n", strpbrk(a, "wo") - a, strpbrk(a, "z") == 0, strstr(a, "xyz") == 0);
}

static void comparisons(void) {
    printf("%d %d %d\n", memcmp("abc", "abz", 3) < 0, memcmp("abz", "abc", 3) > 0, memcmp("abc", "abz", 2));
    printf("%d %d\n", memcmp("\xff", "\x01", 1) > 0, memcmp(a, b, 0));
    printf("%d %d %d\n", strcmp("a", "b") < 0, strcmp("ab", "a") > 0, strcmp("ab", "ab"));
    printf("%d %d\n", strncmp("abc", "abz", 2), strncmp("abc", "abz", 3) < 0);
    printf("%d %d\n", strcasecmp("HeLLo", "hEllO"), strncasecmp("abX", "ABy", 3) < 0);
}

static void numbers(void) {
    char *end;
    printf("%d %ld %lld %.2f\n", atoi(" -42x"), atol("99999999999"), atoll("+7"), atof("2.50e1z"));
    long number = strtol("0x1fg", &end, 16);
    printf("%ld %c\n", number, *end);
    number = strtol("zz", &end, 10);
    printf("%ld %c\n", number, *end);
    errno = 0;
    number = strtol("999999999999999999999", 0, 10);
    printf("%ld %d\n", number, errno == ERANGE);
    printf("%lu %lld %llu\n", strtoul("12 3", 0, 0), strtoll("-5", 0, 10), strtoull("077", 0, 8));
    double real = strtod("1.5e2,", &end);
    printf("%.3f %c\n", real, *end);
}

static void sorts(void) {
    int some[9] = {5, 3, 9, 1, 7, 3, 8, 2, 6}, key = 7, none = 4;
    qsort(some, 9, sizeof *some, by_value);
    for (int i = 0; i < 9; i++) printf("%d ", some[i]);
    int *found = bsearch(&key, some, 9, sizeof key, by_value);
    printf("%td %d\n", found - some, bsearch(&none, some, 9, sizeof key, by_value) == 0);
    struct pair pairs[5] = {{2, "two"}, {1, "a"}, {2, "dos"}, {1, "b"}, {0, "nil"}};
    qsort(pairs, 5, sizeof *pairs, by_key);
    for (int i = 0; i < 5; i++) printf("%s ", pairs[i].name);
    puts("");
}

static void input_and_output(void) {
    snprintf(b, 6, "%d", 1234567);
    puts(b);
    sprintf(b, "%s-%d", "a", 3);
    fputs(b, stdout);
    fwrite("\n", 1, 1, stdout);
    int fds[2];
    char got[6];
    if (pipe(fds) || write(fds[1], "piped", 6) != 6 || read(fds[0], got, 6) != 6) abort();
    puts(got);
    FILE *file = tmpfile();
    char *line = 0;
    size_t room = 0;
    fputs("line one\nline two\n", file);
    rewind(file);
    if (getline(&line, &room, file) != 9) abort();
    fputs(line, stdout);
    fputs(fgets(b, sizeof b, file), stdout);
    rewind(file);
    size_t read = fread(b, 2, 4, file);
    printf("%zu %.8s\n", read, b);
    free(line);
    fclose(file);
}

static void tokens(void) {
    char text[] = ",one,,two three;", again[] = "a b", empty[] = ",,", fields[] = "x,,y";
    for (char *token = strtok(text, ", "); token; token = strtok(0, ", ;")) printf("<%s>", token);
    char *rest;
    printf(" %s", strtok_r(again, " ", &rest));
    printf(" %s", strtok_r(0, " ", &rest));
    printf(" %d %d\n", strtok_r(0, " ", &rest) == 0, strtok_r(empty, ",", &rest) == 0);
    rest = fields;
    for (char *field; (field = strsep(&rest, ","));) printf("<%s>", field);
    printf(" %d\n", rest == 0);
}

static void say(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

static void formats(void) {
    say("%s %d %.1f %s %s %d %s\n", "a", 1, 2.5, "b", "c", 3, "d");
    say("%Lf %s %f%f%f%f%f%f%f%f%f %.*s\n", 1.5L, "e", 1., 2., 3., 4., 5., 6., 7., 8., 9., 2, "long");
    int number = 0, used = 0;
    short half = 0;
    double real = 0;
    char word[8], set[8], *made = 0;
    printf("%d:", sscanf("12 word [ab] 7 2.5", "%d %7s [%[ab]] %hd %lf%n", &number, word, set, &half, &real, &used));
    printf(" %d %s %s %d %.1f %d\n", number, word, set, half, real, used);
    printf("%d %d\n", sscanf("x", "%d", &number), number);
    printf("%5s|%-5s|%.2s|%.*s|%*s|%%|%s\n", "a", "b", "long", 1, "cd", 4, "e", "end");
    if (asprintf(&made, "%s-%d", "made", 3) != 6) abort();
    puts(made);
    free(made);
    fprintf(stdout, "%2$s %1$s\n", "second", "first");
}

static void environment(void) {
    printf("%d", getenv("NOT_THERE") == 0);
    setenv("NOT_THERE", "now", 1);
    printf(" %s", getenv("NOT_THERE"));
    unsetenv("NOT_THERE");
    printf(" %d\n", getenv("NOT_THERE") == 0);
}

static void results(void) {
    time_t moment = 0;
    struct tm *broken = gmtime(&moment), own;
    printf("%d %d ", broken->tm_year, gmtime_r(&moment, &own)->tm_mon);
    strftime(b, sizeof b, "%Y-%m-%d", &own);
    puts(b);
    volatile double eight = 8.5;
    int exponent, quotient;
    double whole, sine, cosine;
    printf("%.4f ", frexp(eight, &exponent));
    printf("%d %.1f ", exponent, modf(eight, &whole));
    printf("%.1f ", whole);
    sincos(eight, &sine, &cosine);
    printf("%.3f %.3f %.1f ", sine, cosine, remquo(eight, 3, &quotient));
    printf("%d\n", quotient);
    struct iovec parts[2] = {{"gathered ", 9}, {"parts\n", 6}};
    fflush(stdout);
    if (writev(1, parts, 2) != 15) abort();
    int fds[2];
    char one[3] = "", two[8] = "";
    struct iovec places[2] = {{one, 2}, {two, 7}};
    if (pipe2(fds, 0) || write(fds[1], "scatter", 7) != 7 || readv(fds[0], places, 2) != 7) abort();
    printf("%s %s\n", one, two);
    struct stat status;
    if (stat("/", &status)) abort();
    printf("%d\n", S_ISDIR(status.st_mode));
    strcpy(a, "Hello World");
    printf("%td %td %td ", (char *)memrchr(a, 'o', 11) - a, (char *)rawmemchr(a, 'W') - a, (char *)memmem(a, 11, "lo", 2) - a);
    char *end;
    printf("%td %d %d ", strcasestr(a, "WORLD") - a, strcoll("a", "b") < 0, strverscmp("v2", "v10") < 0);
    printf("%.1f ", strtof("2.5x", &end));
    printf("%c\n", *end);
    explicit_bzero(a, 5);
    printf("%zu %s\n", strlen(a), a + 6);
}

int main(void) {
    tokens();
    formats();
    environment();
    results();
    copies();
    searches();
    comparisons();
    numbers();
    sorts();
    input_and_output();
}
