#define _GNU_SOURCE
#include "t.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>
// Functions of the library that read what they print, and write what they scan and find out, where the program says.
static char name[16] = "first", locked[16] = "first"; static int number, guarded, exponent; static char word[8]; static double sine;
static struct stat status; static wchar_t wide[8]; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void line(char *to, const char *format, ...) { va_list list; va_start(list, format); vsprintf(to, format, list); va_end(list); }
static char title[16] = "first", own_title[16] = "first";
T(A) {
    { YES("a text that a function of the program prints"); char to[48]; line(to, "%d%d%d%d%d %s", 1, 2, 3, 4, 5, title); line(to, "%.1f %s", 1.5, title); END; }
    { NO("a text that a function of the program prints under a lock"); LOCK; char to[48]; line(to, "%s", own_title); line(to, "%s", own_title); UNLOCK; END; }
    { YES("a text that is printed twice"); char line[32]; snprintf(line, sizeof line, "%d %s", 1, name); snprintf(line, sizeof line, "%.*s", 3, name); END; }
    { NO("a text that is printed under a lock"); LOCK; char line[32]; sprintf(line, "%-8s", locked); sprintf(line, "%s", locked); UNLOCK; END; }
    { YES("a number that is scanned"); int k = number; sscanf("7", "%d", &number); k = number - k; END; }
    { NO("a number that is scanned under a lock"); LOCK; sscanf("7 x", "%d %*s", &guarded); int k = guarded; guarded = k; UNLOCK; END; }
    { YES("a word that is scanned"); int k = word[0]; k += word[0]; END; }
    { YES("the exponent of a number"); int k = exponent; k += exponent; END; }
    { YES("a sine"); double k = sine; k += sine; if (k > 9) guarded = 1; END; }
    { YES("the state of a file"); long k = status.st_size; k += status.st_size; if (k < 0) guarded = 1; END; }
    { YES("wide characters"); int k = wide[0]; k += wide[0]; if (k < 0) guarded = 1; END; }
    return 0;
}
T(B) {
    volatile double eight = 8; double cosine; char own[8];
    strcpy(title, "other");
    LOCK; strcpy(own_title, "other"); UNLOCK;
    strcpy(name, "other");
    LOCK; strcpy(locked, "other"); UNLOCK;
    sscanf("x 9", "%7s %d", own, &number);
    LOCK; sscanf("9", "%d", &guarded); UNLOCK;
    sscanf("word 3", "%7[a-z]", word);
    frexp(eight, &exponent);
    sincos(eight, &sine, &cosine);
    stat("/", &status);
    mbstowcs(wide, "abc", 8);
    return 0;
}
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); return 0; }
