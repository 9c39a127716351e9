// A thread is joined by another one than its creator, and that one by a third, through a chain of joins.
#include "t.h"
static int x, y; static pthread_t one;
T(inner) { int own[10]; x = x + 1; for (int i = 0; i < 10; i++) ((volatile int *)own)[i] = i; return 0; }
T(joins) { JOIN(one); NO("after the join"); x = x + 1; END; return 0; }
T(beside) { YES("beside"); int k = y; y = k + 1; END; return 0; }
int main(void) {
  pthread_t two, three, four;
  GO(one, inner, 0); GO(two, joins, 0); GO(three, beside, 0); GO(four, beside, 0);
  JOIN(two); NO("after the chain"); x = x + 1; END;
  JOIN(three); JOIN(four);
  return 0;
}
