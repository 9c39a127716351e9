#define _GNU_SOURCE
#include "t.h"
#include <string.h>
#include <time.h>
// Functions that keep their result in one variable for all threads, beside those that write where they are told to.
static int days; static char kept[32]; static long done;
T(A) {
    time_t moment = 5; struct tm own; char line[] = "a b"; char *rest;
    { YES("the time of day in the library's memory"); struct tm *shared = localtime(&moment); days = shared->tm_mday; END; }
    { NO("the time of day in own memory"); localtime_r(&moment, &own); days = own.tm_mday; END; }
    { YES("tokens whose rest the library keeps"); char *first = strtok(line, " "), *second = strtok(0, " "); done = first != second; END; }
    char again[] = "c d";
    { NO("tokens whose rest the thread keeps"); char *first = strtok_r(again, " ", &rest), *second = strtok_r(0, " ", &rest); done = first != second; END; }
    char fields[] = "e,f", *left = fields;
    { NO("fields whose rest the thread keeps"); char *first = strsep(&left, ","), *second = strsep(&left, ","); done = first != second; END; }
    { YES("a variable of the environment"); if (!getenv("FORETRACE_CASE")) setenv("FORETRACE_CASE", "1", 1); END; }
    return 0;
}
T(B) {
    time_t moment = 90000; struct tm own; char line[] = "1 2", again[] = "3 4", *rest;
    localtime(&moment);
    localtime_r(&moment, &own);
    strtok(line, " ");
    strtok_r(again, " ", &rest);
    setenv("FORETRACE_CASE", "2", 1);
    strcpy(kept, "12");
    return 0;
}
int main() { pthread_t a, b; GO(a, A, 0); GO(b, B, 0); JOIN(a); JOIN(b); printf("%ld\n", done); return 0; }
