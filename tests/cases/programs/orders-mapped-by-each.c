#include "t.h"
#include <fcntl.h>
struct s{ pthread_mutex_t m; int y,z; }; static char n[64];
static struct s *map(void){ int f=shm_open(n,O_RDWR,0); struct s *s=mmap(0,sizeof *s,PROT_READ|PROT_WRITE,MAP_SHARED,f,0); close(f); return s;}
T(a){ struct s *s=map(); pthread_mutex_lock(&s->m); NO("shm mutex"); s->y=s->y+1; END; pthread_mutex_unlock(&s->m); YES("shm"); s->z=s->z+1; END; munmap(s,sizeof *s); return 0;}
int main(){ sprintf(n,"/ft-%010d",getpid()); int f=shm_open(n,O_RDWR|O_CREAT|O_EXCL,0600); ftruncate(f,sizeof(struct s)); struct s *s=map(); pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_setpshared(&at,PTHREAD_PROCESS_SHARED); pthread_mutex_init(&s->m,&at);
 pthread_t p,q; GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); printf("%d\n",s->y); shm_unlink(n); return 0;}
