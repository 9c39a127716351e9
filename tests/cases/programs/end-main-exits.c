// The main thread ends by pthread_exit; another one joins it and ends the process.
#include "t.h"
static int x; static pthread_t first;
T(other) { YES("beside the others"); int k = x; x = k + 1; END; return 0; }
T(last) { pthread_t a; GO(a, other, 0); JOIN(first); YES("main is over"); int k = x; x = k + 1; END; JOIN(a); exit(0); }
int main(void) { pthread_t t; first = pthread_self(); x = 0; GO(t, last, 0); pthread_detach(t); x = 5; pthread_exit(0); }
