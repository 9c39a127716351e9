/* Other processes may post to a semaphore that has a name. A thread that waits for it takes it in its turn. */
#include "t.h"
#include <fcntl.h>
static char one[40],two[40]; static int y,z;
static sem_t *opened(char *name,const char *which,int room){ snprintf(name,40,"/%s-%d",which,getpid()); return sem_open(name,O_CREAT|O_EXCL,0600,room);}
T(work){ sem_t *s=sem_open(one,0),*t=sem_open(two,0);
 for(int i=0;i<2;i++){ sem_wait(s); NO("room of one"); y=y+1; END; sem_post(s);
  sem_wait(t); YES("room of two"); z=z+1; END; sem_post(t);}
 sem_close(s); sem_close(t); return 0;}
int main(){ pthread_t p,q; sem_t *s=opened(one,"room-of-one",1),*t=opened(two,"room-of-two",2); if(s==SEM_FAILED||t==SEM_FAILED) return 1;
 GO(p,work,0);GO(q,work,0);JOIN(p);JOIN(q); sem_unlink(one); sem_unlink(two); sem_close(s); sem_close(t); printf("%d\n",y); return 0;}
