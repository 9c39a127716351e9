#include "t.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <stdatomic.h>
static atomic_int f,g; static int y,z;
T(a){ YES("before"); z=z+1; END; while(!atomic_load(&f)) syscall(SYS_futex,&f,FUTEX_WAIT,0,0,0,0); NO("after"); int u=y; u+=y; END; return (void*)(intptr_t)u;}
T(b){ y=1; z=2; syscall(SYS_futex,&g,FUTEX_WAKE_OP,1,(void*)1L,&f,FUTEX_OP(FUTEX_OP_SET,1,FUTEX_OP_CMP_EQ,0)); return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
