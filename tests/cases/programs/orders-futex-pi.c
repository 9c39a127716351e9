#include "t.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <stdatomic.h>
static atomic_int f; static int y,z;
static void lock(void){ int me=(int)syscall(SYS_gettid), zero=0; if(!atomic_compare_exchange_strong(&f,&zero,me)) syscall(SYS_futex,&f,FUTEX_LOCK_PI,0,0,0,0);}
static void unlock(void){ int me=(int)syscall(SYS_gettid); if(!atomic_compare_exchange_strong(&f,&me,0)) syscall(SYS_futex,&f,FUTEX_UNLOCK_PI,0,0,0,0);}
T(a){ lock(); NO("futex pi"); y=y+1; END; unlock(); YES("without"); z=z+1; END; return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
