/* Which thread uses an object first depends on the schedule: a witness that lets the other one be first is followed. */
#include "t.h"
#include <fcntl.h>
#include <mqueue.h>
#include <sys/sem.h>
static int a,b,c,d,e,pipes[2],set; static sem_t *named; static pthread_t boss; static mqd_t queue;
static void change(int by){ struct sembuf s={0,by,0}; semop(set,&s,1);}
T(work){
 YES("pipe"); a=a+write(pipes[1],"a",1); END;
 YES("signal"); b=b+(pthread_kill(boss,SIGRTMIN)==0); END;
 YES("named semaphore"); int v=c; sem_wait(named); sem_post(named); c=v+1; END;
 YES("set of semaphores"); int w=d; change(-1); change(1); d=w+1; END;
 YES("queue"); e=e+(mq_send(queue,"a",1,0)==0); END;
 return 0;}
int main(){ pthread_t p,q; char name[40]; snprintf(name,sizeof name,"/first-uses-%d",getpid());
 sigset_t signals; sigemptyset(&signals); sigaddset(&signals,SIGRTMIN); pthread_sigmask(SIG_BLOCK,&signals,0); boss=pthread_self();
 struct mq_attr shape={.mq_maxmsg=4,.mq_msgsize=8}; queue=mq_open(name,O_CREAT|O_RDWR,0600,&shape); mq_unlink(name);
 named=sem_open(name,O_CREAT,0600,1); sem_unlink(name); set=semget(IPC_PRIVATE,1,0600); semctl(set,0,SETVAL,1);
 if(pipe(pipes)||named==SEM_FAILED||set<0||queue<0) return 1;
 GO(p,work,0);GO(q,work,0);JOIN(p);JOIN(q); semctl(set,0,IPC_RMID); return 0;}
