#include "t.h"
#include <sys/socket.h>
#include <sys/un.h>
// The kernel chooses the address: it has the same length in every run, which one with the number of the process has not.
static int s,y,z; static struct sockaddr_un at; static socklen_t n;
T(a){ YES("before"); z=z+1; END; int c=accept4(s,0,0,SOCK_CLOEXEC); NO("after accept"); int w=y; w+=y; END; char b; read(c,&b,1); NO("after read"); w=y; w+=y; END; close(c); return (void*)(intptr_t)w;}
int main(){ s=socket(AF_UNIX,SOCK_STREAM,0); at.sun_family=AF_UNIX; bind(s,(struct sockaddr*)&at,sizeof at.sun_family); n=sizeof at; getsockname(s,(struct sockaddr*)&at,&n); listen(s,1); pthread_t t; GO(t,a,0); y=1; z=2; int c=socket(AF_UNIX,SOCK_STREAM,0); connect(c,(struct sockaddr*)&at,n); write(c,"x",1); JOIN(t); close(c); printf("%d\n",y); return 0;}
