// The members of std::string, std::wstring and the buffers of string streams, which libstdc++ has compiled in its shared library
// (of std::string and std::wstring for standards up to C++17).
#define _GLIBCXX_EXTERN_TEMPLATE 0
#include <sstream>
#include <string>
template class std::basic_string<char>;
template class std::basic_string<wchar_t>;
template class std::basic_streambuf<char>;
template class std::basic_stringbuf<char>;
