#include "t.h"
static pthread_rwlock_t r=PTHREAD_RWLOCK_INITIALIZER; static int y,z;
static struct timespec far(clockid_t c){ struct timespec t; clock_gettime(c,&t); t.tv_sec+=100; return t;}
T(w){ struct timespec t=far(CLOCK_REALTIME); if(pthread_rwlock_clockwrlock(&r,CLOCK_REALTIME,&t)==0){ NO("clockwrlock"); y=y+1; END; pthread_rwlock_unlock(&r);}
 t=far(CLOCK_MONOTONIC); if(pthread_rwlock_clockrdlock(&r,CLOCK_MONOTONIC,&t)==0){ YES("clockrdlock"); z=z+1; END; pthread_rwlock_unlock(&r);} return 0;}
int main(){ pthread_t p,q; GO(p,w,0);GO(q,w,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
