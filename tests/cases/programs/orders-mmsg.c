#include "t.h"
#include <sys/socket.h>
static int s[2],y,z;
T(a){ YES("before"); z=z+1; END; char b[2][8]; struct iovec v[2]={{b[0],8},{b[1],8}}; struct mmsghdr h[2]; memset(h,0,sizeof h); for(int i=0;i<2;i++){h[i].msg_hdr.msg_iov=&v[i];h[i].msg_hdr.msg_iovlen=1;}
 recvmmsg(s[0],h,2,0,0); NO("after recvmmsg"); int w=y; w+=y; END; return (void*)(intptr_t)w;}
T(b){ y=1; z=2; struct iovec v[2]={{"a",1},{"b",1}}; struct mmsghdr h[2]; memset(h,0,sizeof h); for(int i=0;i<2;i++){h[i].msg_hdr.msg_iov=&v[i];h[i].msg_hdr.msg_iovlen=1;} sendmmsg(s[1],h,2,0); return 0;}
int main(){ socketpair(AF_UNIX,SOCK_DGRAM,0,s); pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
