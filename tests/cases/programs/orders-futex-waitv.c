#include "t.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <stdatomic.h>
#include <sched.h>
#ifndef PRIVATE
#define PRIVATE 0 /* else FUTEX_PRIVATE_FLAG */
#endif
struct waitv{ uint64_t val,uaddr; uint32_t flags,reserved; };
static atomic_int f,g; static int y,z;
T(a){ YES("before"); z=z+1; END; while(!atomic_load(&f)){ struct waitv w[2]={{0,(uintptr_t)&f,2|PRIVATE,0},{0,(uintptr_t)&g,2|PRIVATE,0}}; if(syscall(449,w,2,0,0,0)<0 && errno==ENOSYS) sched_yield(); } NO("after"); int u=y; u+=y; END; return (void*)(intptr_t)u;}
T(b){ y=1; z=2; atomic_store(&f,1); syscall(SYS_futex,&f,FUTEX_WAKE|PRIVATE,1,0,0,0); return 0;}
int main(){ pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
