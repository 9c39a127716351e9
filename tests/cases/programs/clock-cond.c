#include "t.h"
static pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c=PTHREAD_COND_INITIALIZER; static int ready,y,z;
T(a){ struct timespec t; clock_gettime(CLOCK_MONOTONIC,&t); t.tv_sec+=100; YES("before ready"); z=z+1; END; LOCK; while(!ready) pthread_cond_clockwait(&c,&m,CLOCK_MONOTONIC,&t); UNLOCK;
 NO("after ready"); int u=y; u=u+y; END; return (void*)(intptr_t)u;}
T(b){ y=1; z=2; LOCK; ready=1; pthread_cond_signal(&c); UNLOCK; return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
