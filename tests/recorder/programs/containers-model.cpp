// Random operations on containers against simple models, with the red-black rules checked.
#include <map>
#include <set>
#include <list>
#include <vector>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
namespace std { unsigned _Rb_tree_black_count(const _Rb_tree_node_base*, const _Rb_tree_node_base*) throw(); }
static void need(bool ok, const char *what) { if (!ok) { printf("WRONG: %s\n", what); abort(); } }
int main(int argc, char **argv) {
  std::mt19937 rng(argc > 1 ? atoi(argv[1]) : 1); long ops = argc > 2 ? atol(argv[2]) : 100000; long checks = 0;
  std::multimap<int,int> m; std::vector<std::pair<int,int>> v;
  std::set<int> s; std::vector<int> sv;
  std::list<int> l[2]; std::vector<int> lv[2];
  for (long i = 0; i < ops; i++) {
    int k = rng() % 64, w = rng() % 14; int a = rng() % 2;
    switch (w) {
      case 0: case 1: case 2: { auto it = m.insert({k, (int)i}); auto p = std::upper_bound(v.begin(), v.end(), k, [](int x, auto &y){return x < y.first;}); v.insert(p, {k,(int)i}); need(it->second == (int)i, "insert"); break; }
      case 3: case 4: if (!m.empty()) { int n = rng() % m.size(); m.erase(std::next(m.begin(), n)); v.erase(v.begin() + n); } break;
      case 5: if (rng() % 50 == 0) { need(m.erase(k) == (size_t)std::count_if(v.begin(), v.end(), [&](auto &x){return x.first==k;}), "erase key"); v.erase(std::remove_if(v.begin(), v.end(), [&](auto &x){return x.first==k;}), v.end()); } break;
      case 6: { bool fresh = s.insert(k).second; auto p = std::lower_bound(sv.begin(), sv.end(), k); need(fresh == (p == sv.end() || *p != k), "set insert"); if (fresh) sv.insert(p, k); break; }
      case 7: { bool had = s.erase(k); auto p = std::lower_bound(sv.begin(), sv.end(), k); need(had == (p != sv.end() && *p == k), "set erase"); if (had) sv.erase(p); break; }
      case 8: { int n = l[a].empty() ? 0 : rng() % (l[a].size() + 1); l[a].insert(std::next(l[a].begin(), n), k); lv[a].insert(lv[a].begin() + n, k); break; }
      case 9: if (!l[a].empty()) { int n = rng() % l[a].size(); l[a].erase(std::next(l[a].begin(), n)); lv[a].erase(lv[a].begin() + n); } break;
      case 10: { int x = l[a].empty() ? 0 : rng() % (l[a].size()+1), y = x + (l[a].size() - x ? rng() % (l[a].size() - x + 1) : 0); int n = l[!a].empty() ? 0 : rng() % (l[!a].size()+1);
                l[!a].splice(std::next(l[!a].begin(), n), l[a], std::next(l[a].begin(), x), std::next(l[a].begin(), y));
                std::vector<int> part(lv[a].begin()+x, lv[a].begin()+y); lv[a].erase(lv[a].begin()+x, lv[a].begin()+y); lv[!a].insert(lv[!a].begin()+n, part.begin(), part.end()); break; }
      case 11: l[0].swap(l[1]); lv[0].swap(lv[1]); break;
      case 12: l[a].reverse(); std::reverse(lv[a].begin(), lv[a].end()); if (rng() % 20 == 0) { l[a].sort(); std::sort(lv[a].begin(), lv[a].end()); } break;
      case 13: if (l[0].size() > 40) { l[0].clear(); lv[0].clear(); } if (l[1].size() > 40) { l[1].remove(k); lv[1].erase(std::remove(lv[1].begin(), lv[1].end(), k), lv[1].end()); }
               if (rng() % 100 == 0) { std::multimap<int,int> c(m); m.swap(c); } break;
    }
    if (i % 37 == 0) { checks++;
      need(std::equal(m.begin(), m.end(), v.begin(), v.end(), [](auto &x, auto &y){return x.first==y.first && x.second==y.second;}), "map");
      need(std::equal(m.rbegin(), m.rend(), v.rbegin(), v.rend(), [](auto &x, auto &y){return x.first==y.first;}), "map backward");
      need(std::equal(s.begin(), s.end(), sv.begin(), sv.end()), "set"); need(std::equal(s.rbegin(), s.rend(), sv.rbegin(), sv.rend()), "set backward");
      for (int b = 0; b < 2; b++) { need(std::equal(l[b].begin(), l[b].end(), lv[b].begin(), lv[b].end()), "list"); need(std::equal(l[b].rbegin(), l[b].rend(), lv[b].rbegin(), lv[b].rend()), "list backward"); }
      // red-black rules
      if (!m.empty()) { auto *h = m.end()._M_node; auto *root = h->_M_parent; need(root->_M_color == std::_S_black, "root"); unsigned black = 0; bool first = true;
        for (auto it = m.begin(); it != m.end(); ++it) { auto *n = it._M_node; for (auto *c : {n->_M_left, n->_M_right}) if (c) { need(c->_M_parent == n, "parent"); need(!(n->_M_color == std::_S_red && c->_M_color == std::_S_red), "red red"); }
          if (!n->_M_left || !n->_M_right) { unsigned b = std::_Rb_tree_black_count(n, root); if (first) { black = b; first = false; } need(b == black, "black height"); } } }
    }
  }
  printf("%ld operations, %ld checks\n", ops, checks);
}
