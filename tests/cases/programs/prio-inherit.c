#include "t.h"
static pthread_mutex_t m; static int y,z;
T(a){ LOCK; NO("pi mutex"); y=y+1; END; UNLOCK; YES("without"); z=z+1; END; return 0;}
int main(){ pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_setprotocol(&at,PTHREAD_PRIO_INHERIT); pthread_mutexattr_settype(&at,PTHREAD_MUTEX_ERRORCHECK); pthread_mutex_init(&m,&at);
 pthread_t p,q; GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
