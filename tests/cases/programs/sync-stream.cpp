#include "t.hpp"
#include <syncstream>
#include <iostream>
static int y;
static void f(){ std::osyncstream(std::cout) << "a" << 1 << "\n"; YES("y"); y=y+1; END; }
int main(){ std::thread a(f),b(f); a.join(); b.join(); }
