#include "t.h"
#include <sys/socket.h>
static int s[2],y,z;
T(a){ YES("before"); z=z+1; END; char b; union{ char c[CMSG_SPACE(sizeof(int))]; struct cmsghdr h;} u; struct iovec v={&b,1}; struct msghdr h={0}; h.msg_iov=&v; h.msg_iovlen=1; h.msg_control=u.c; h.msg_controllen=sizeof u.c;
 recvmsg(s[0],&h,0); int fd=-1; memcpy(&fd,CMSG_DATA(CMSG_FIRSTHDR(&h)),sizeof fd); NO("after recvmsg"); int w=y; w+=y; END; write(fd,"x",1); close(fd); return (void*)(intptr_t)w;}
T(b){ y=1; z=2; int p[2]; pipe(p); char c='c'; union{ char c[CMSG_SPACE(sizeof(int))]; struct cmsghdr h;} u; memset(&u,0,sizeof u); struct iovec v={&c,1}; struct msghdr h={0}; h.msg_iov=&v; h.msg_iovlen=1; h.msg_control=u.c; h.msg_controllen=sizeof u.c;
 struct cmsghdr *k=CMSG_FIRSTHDR(&h); k->cmsg_level=SOL_SOCKET; k->cmsg_type=SCM_RIGHTS; k->cmsg_len=CMSG_LEN(sizeof(int)); memcpy(CMSG_DATA(k),&p[1],sizeof(int)); sendmsg(s[1],&h,0); char d; read(p[0],&d,1); NO("after read"); y=y+1; END; return 0;}
int main(){ socketpair(AF_UNIX,SOCK_STREAM,0,s); pthread_t p,q; GO(p,a,0);GO(q,b,0);JOIN(p);JOIN(q); printf("%d\n",y); return 0;}
