// The members of std::string, which libstdc++ has compiled in its shared library for standards up to C++17.
#define _GLIBCXX_EXTERN_TEMPLATE 0
#include <string>
template class std::basic_string<char>;
