#include "t.h"
static pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER; static int y,z;
static struct timespec far(clockid_t c){ struct timespec t; clock_gettime(c,&t); t.tv_sec+=100; return t;}
T(a){ struct timespec t=far(CLOCK_MONOTONIC); if(pthread_mutex_clocklock(&m,CLOCK_MONOTONIC,&t)==0){ NO("clocklock"); y=y+1; END; UNLOCK; }
 YES("without"); z=z+1; END; return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
