#include "t.h"
#include <sys/select.h>
#include <poll.h>
static int p[2],y,z;
T(a){ YES("before"); z=z+1; END; fd_set r; FD_ZERO(&r); FD_SET(p[0],&r); pselect(p[0]+1,&r,0,0,0,0); NO("after pselect"); int w=y; w+=y; END; struct pollfd f={p[0],POLLIN,0}; ppoll(&f,1,0,0); NO("after ppoll"); w=y; w+=y; END; return (void*)(intptr_t)w;}
int main(){ pipe(p); pthread_t t; GO(t,a,0); y=1; z=2; write(p[1],"x",1); JOIN(t); printf("%d\n",y); return 0;}
