#include "t.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <stdatomic.h>
static atomic_int f; static int y,z;
T(a){ YES("before"); z=z+1; END; while(!atomic_load(&f)) syscall(SYS_futex,&f,FUTEX_WAIT_BITSET|FUTEX_PRIVATE_FLAG,0,0,0,1); NO("after wake"); int u=y; u+=y; END; return (void*)(intptr_t)u;}
T(b){ y=1; z=2; atomic_store(&f,1); syscall(SYS_futex,&f,FUTEX_WAKE_BITSET|FUTEX_PRIVATE_FLAG,1,0,0,1); return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
