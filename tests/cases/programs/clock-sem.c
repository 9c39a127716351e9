#include "t.h"
static sem_t one,two; static int y,z;
static struct timespec far(clockid_t c){ struct timespec t; clock_gettime(c,&t); t.tv_sec+=100; return t;}
T(a){ struct timespec t=far(CLOCK_MONOTONIC); if(sem_clockwait(&one,CLOCK_MONOTONIC,&t)==0){ NO("sem of one"); y=y+1; END; sem_post(&one);}
 if(sem_clockwait(&two,CLOCK_MONOTONIC,&t)==0){ YES("sem of two"); z=z+1; END; sem_post(&two);} return 0;}
int main(){ pthread_t p,q; sem_init(&one,0,1); sem_init(&two,0,2); GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
