#include "t.h"
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <fcntl.h>
static int p[2],q[2],y,z,f;
T(a){ YES("before"); z=z+1; END; char b; read(p[0],&b,1); NO("after sendfile"); int w=y; w+=y; END; read(q[0],&b,1); NO("after vmsplice"); w=y; w+=y; END; return (void*)(intptr_t)w;}
int main(){ f=memfd_create("x",0); write(f,"abc",3); socketpair(AF_UNIX,SOCK_STREAM,0,p); pipe(q); pthread_t t; GO(t,a,0); y=1; z=2; off_t o=0; sendfile(p[1],f,&o,1); struct iovec v={"d",1}; vmsplice(q[1],&v,1,0); JOIN(t); printf("%d\n",y); return 0;}
