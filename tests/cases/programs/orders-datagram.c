#include "t.h"
#include <sys/socket.h>
#include <netinet/in.h>
#include <arpa/inet.h>
static int s,y,z; static struct sockaddr_in at;
T(a){ YES("before"); z=z+1; END; char b[8]; recvfrom(s,b,sizeof b,0,0,0); NO("after datagram"); int w=y; w+=y; END; return (void*)(intptr_t)w;}
T(b){ y=1; z=2; int c=socket(AF_INET,SOCK_DGRAM,0); sendto(c,"hi",2,0,(struct sockaddr*)&at,sizeof at); close(c); return 0;}
int main(){ s=socket(AF_INET,SOCK_DGRAM,0); at.sin_family=AF_INET; at.sin_addr.s_addr=htonl(INADDR_LOOPBACK); bind(s,(struct sockaddr*)&at,sizeof at); socklen_t n=sizeof at; getsockname(s,(struct sockaddr*)&at,&n);
 pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
