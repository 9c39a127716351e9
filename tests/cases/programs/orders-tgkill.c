#include "t.h"
#include <sys/syscall.h>
static int y,z; static volatile sig_atomic_t w; static sem_t up,done; static pid_t tid;
static void on(int n){ (void)n; NO("in the handler"); int u=y; u+=y; END; w=u; sem_post(&done);}
T(a){ tid=(pid_t)syscall(SYS_gettid); sem_post(&up); YES("before"); z=z+1; END; while(sem_wait(&done)) ; return 0;}
int main(){ sem_init(&up,0,0); sem_init(&done,0,0); signal(SIGUSR1,on); pthread_t p; GO(p,a,0); sem_wait(&up); y=1; z=2; syscall(SYS_tgkill,getpid(),tid,SIGUSR1); JOIN(p); printf("%d\n",(int)w); return 0;}
