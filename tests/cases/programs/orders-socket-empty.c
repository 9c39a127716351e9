/* The same where calls do not wait: that one found nothing is before what is sent next. */
#include "t.h"
#include <sys/socket.h>
#include <poll.h>
static int pair[2],y,z;
static void receive(int file,char *to,int bytes){ for(int at=0;at<bytes;){ int some=recv(file,to+at,bytes-at<3?bytes-at:3,0); if(some<0&&errno==EAGAIN){struct pollfd f={file,POLLIN,0}; poll(&f,1,-1); continue;} if(some<=0) return; at+=some;}}
static void pieces(int file,const char *text){ for(int at=0;at<8;at+=2) send(file,text+at,2,0);}
T(serve){ char text[9]={0}; receive(pair[1],text,8); y=1; pieces(pair[1],"answered"); YES("after the answer"); z=z+1; END; return 0;}
int main(){ char text[9]={0}; pthread_t p; if(socketpair(AF_UNIX,SOCK_STREAM|SOCK_NONBLOCK,0,pair)) return 1;
 GO(p,serve,0); pieces(pair[0],"question"); receive(pair[0],text,8); NO("after the question"); int u=y; u+=y; END; z=z+1; JOIN(p); printf("%s\n",text); return u!=2;}
