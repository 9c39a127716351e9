#include "t.h"
#include <sys/sem.h>
static int id,y,z;
static void op(int n){ struct sembuf b={0,(short)n,0}; struct timespec t={100,0}; semtimedop(id,&b,1,&t);}
T(a){ op(-1); NO("semtimedop"); y=y+1; END; op(1); YES("without"); z=z+1; END; return 0;}
int main(){ id=semget(IPC_PRIVATE,1,0600); semctl(id,0,SETVAL,1); pthread_t p,q; GO(p,a,0);GO(q,a,0);JOIN(p);JOIN(q); semctl(id,0,IPC_RMID); printf("%d\n",y); return 0;}
