#include "t.h"
static int y,z; 
T(a){ YES("before"); z=z+1; END; sigset_t s; sigemptyset(&s); sigaddset(&s,SIGUSR1); siginfo_t i; sigwaitinfo(&s,&i); NO("after sigwaitinfo"); int w=y; w+=y; END; return (void*)(intptr_t)(w+i.si_value.sival_int);}
int main(){ sigset_t s; sigemptyset(&s); sigaddset(&s,SIGUSR1); pthread_sigmask(SIG_BLOCK,&s,0); pthread_t p; GO(p,a,0); y=1; z=2; union sigval v={.sival_int=4}; pthread_sigqueue(p,SIGUSR1,v); JOIN(p); printf("%d\n",y); return 0;}
