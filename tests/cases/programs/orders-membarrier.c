#include "t.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <stdatomic.h>
static atomic_int f; static int y,z;
T(a){ YES("before"); z=z+1; END; while(!atomic_load_explicit(&f,memory_order_relaxed)) ; syscall(SYS_membarrier,MEMBARRIER_CMD_PRIVATE_EXPEDITED,0,0); NO("after"); int w=y; w+=y; END; return (void*)(intptr_t)w;}
int main(){ syscall(SYS_membarrier,MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,0,0); pthread_t t; GO(t,a,0); y=1; z=2; syscall(SYS_membarrier,MEMBARRIER_CMD_PRIVATE_EXPEDITED,0,0); atomic_store_explicit(&f,1,memory_order_relaxed); JOIN(t); printf("%d\n",y); return 0;}
