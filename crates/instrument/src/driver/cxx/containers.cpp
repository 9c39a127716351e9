// What std::map, std::set and std::list do to the links of their nodes. libstdc++ has it compiled in its shared library, where no hook
// sees it; programs get these functions in place of those. Layouts and names are those of <bits/stl_tree.h> and <bits/stl_list.h>.
// Balanced trees after Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", chapter on red-black trees.

namespace std {

enum _Rb_tree_color { _S_red = false, _S_black = true };

// A node, or the header of a tree: its parent is the root, left and right are the first and the last node. The root's parent is the header.
struct _Rb_tree_node_base {
    _Rb_tree_color _M_color;
    _Rb_tree_node_base *_M_parent, *_M_left, *_M_right;
};

namespace {

typedef _Rb_tree_node_base Node;

Node *first_below(Node *node) {
    while (node->_M_left) node = node->_M_left;
    return node;
}

Node *last_below(Node *node) {
    while (node->_M_right) node = node->_M_right;
    return node;
}

bool is_red(const Node *node) { return node && node->_M_color == _S_red; }

// What hung at a node's parent, or was the root, is `other` now.
void hang(Node *node, Node *other, Node &header) {
    Node *parent = node->_M_parent;
    if (header._M_parent == node) header._M_parent = other;
    else if (parent->_M_left == node) parent->_M_left = other;
    else parent->_M_right = other;
}

void rotate_left(Node *node, Node &header) {
    Node *up = node->_M_right;
    node->_M_right = up->_M_left;
    if (up->_M_left) up->_M_left->_M_parent = node;
    up->_M_parent = node->_M_parent;
    hang(node, up, header);
    up->_M_left = node;
    node->_M_parent = up;
}

void rotate_right(Node *node, Node &header) {
    Node *up = node->_M_left;
    node->_M_left = up->_M_right;
    if (up->_M_right) up->_M_right->_M_parent = node;
    up->_M_parent = node->_M_parent;
    hang(node, up, header);
    up->_M_right = node;
    node->_M_parent = up;
}

void rotate(Node *node, bool left, Node &header) {
    if (left) rotate_left(node, header);
    else rotate_right(node, header);
}

// A red node may have a red parent; nothing else is wrong.
void mend_insertion(Node *node, Node &header) {
    while (node != header._M_parent && is_red(node->_M_parent)) {
        Node *parent = node->_M_parent, *above = parent->_M_parent;
        bool on_left = parent == above->_M_left;
        Node *uncle = on_left ? above->_M_right : above->_M_left;
        if (is_red(uncle)) {
            parent->_M_color = uncle->_M_color = _S_black;
            above->_M_color = _S_red;
            node = above;
            continue;
        }
        if (node == (on_left ? parent->_M_right : parent->_M_left)) {
            node = parent;
            rotate(node, on_left, header);
            parent = node->_M_parent;
        }
        parent->_M_color = _S_black;
        above->_M_color = _S_red;
        rotate(above, !on_left, header);
    }
    header._M_parent->_M_color = _S_black;
}

// The ways through a node (perhaps none is there) below `parent` have one black node less than others.
void mend_removal(Node *node, Node *parent, Node &header) {
    while (node != header._M_parent && !is_red(node)) {
        bool on_left = node == parent->_M_left;
        Node *sibling = on_left ? parent->_M_right : parent->_M_left;
        if (is_red(sibling)) {
            sibling->_M_color = _S_black;
            parent->_M_color = _S_red;
            rotate(parent, on_left, header);
            sibling = on_left ? parent->_M_right : parent->_M_left;
        }
        if (!is_red(sibling->_M_left) && !is_red(sibling->_M_right)) {
            sibling->_M_color = _S_red;
            node = parent;
            parent = parent->_M_parent;
            continue;
        }
        if (!is_red(on_left ? sibling->_M_right : sibling->_M_left)) {
            (on_left ? sibling->_M_left : sibling->_M_right)->_M_color = _S_black;
            sibling->_M_color = _S_red;
            rotate(sibling, !on_left, header);
            sibling = on_left ? parent->_M_right : parent->_M_left;
        }
        sibling->_M_color = parent->_M_color;
        parent->_M_color = _S_black;
        (on_left ? sibling->_M_right : sibling->_M_left)->_M_color = _S_black;
        rotate(parent, on_left, header);
        node = header._M_parent;
        break;
    }
    if (node) node->_M_color = _S_black;
}

Node *next(Node *node) {
    if (node->_M_right) return first_below(node->_M_right);
    Node *parent = node->_M_parent;
    while (node == parent->_M_right) {
        node = parent;
        parent = parent->_M_parent;
    }
    // The root without a right child: its parent is the header, whose parent it is.
    return node->_M_right == parent ? node : parent;
}

Node *previous(Node *node) {
    if (node->_M_color == _S_red && node->_M_parent->_M_parent == node) return node->_M_right; // the header
    if (node->_M_left) return last_below(node->_M_left);
    Node *parent = node->_M_parent;
    while (node == parent->_M_left) {
        node = parent;
        parent = parent->_M_parent;
    }
    return parent;
}

} // namespace

Node *_Rb_tree_increment(Node *node) throw() { return next(node); }
const Node *_Rb_tree_increment(const Node *node) throw() { return next(const_cast<Node *>(node)); }
Node *_Rb_tree_decrement(Node *node) throw() { return previous(node); }
const Node *_Rb_tree_decrement(const Node *node) throw() { return previous(const_cast<Node *>(node)); }

void _Rb_tree_insert_and_rebalance(const bool on_left, Node *node, Node *parent, Node &header) throw() {
    node->_M_parent = parent;
    node->_M_left = 0;
    node->_M_right = 0;
    node->_M_color = _S_red;
    if (on_left) {
        parent->_M_left = node; // of an empty tree: the header's first
        if (parent == &header) {
            header._M_parent = node;
            header._M_right = node;
        } else if (parent == header._M_left) {
            header._M_left = node;
        }
    } else {
        parent->_M_right = node;
        if (parent == header._M_right) header._M_right = node;
    }
    mend_insertion(node, header);
}

Node *_Rb_tree_rebalance_for_erase(Node *const node, Node &header) throw() {
    Node *below, *parent;
    _Rb_tree_color taken = node->_M_color;
    if (node->_M_left && node->_M_right) {
        // The next node takes the place and the color of the one that goes.
        Node *heir = first_below(node->_M_right);
        below = heir->_M_right;
        taken = heir->_M_color;
        node->_M_left->_M_parent = heir;
        heir->_M_left = node->_M_left;
        if (heir == node->_M_right) {
            parent = heir;
        } else {
            parent = heir->_M_parent;
            if (below) below->_M_parent = parent;
            parent->_M_left = below;
            heir->_M_right = node->_M_right;
            node->_M_right->_M_parent = heir;
        }
        hang(node, heir, header);
        heir->_M_parent = node->_M_parent;
        heir->_M_color = node->_M_color;
    } else {
        below = node->_M_left ? node->_M_left : node->_M_right;
        parent = node->_M_parent;
        if (below) below->_M_parent = parent;
        hang(node, below, header);
        if (header._M_left == node) header._M_left = below ? first_below(below) : parent;
        if (header._M_right == node) header._M_right = below ? last_below(below) : parent;
    }
    if (taken == _S_black) mend_removal(below, parent, header);
    return node;
}

unsigned _Rb_tree_black_count(const Node *node, const Node *root) throw() {
    unsigned count = 0;
    while (node) {
        count += node->_M_color == _S_black;
        if (node == root) break;
        node = node->_M_parent;
    }
    return count;
}

namespace __detail {

// A node, or the header of a list: its next and previous are the first and the last node.
struct _List_node_base {
    _List_node_base *_M_next, *_M_prev;

    static void swap(_List_node_base &one, _List_node_base &other) throw();
    void _M_transfer(_List_node_base *const first, _List_node_base *const end) throw();
    void _M_reverse() throw();
    void _M_hook(_List_node_base *const position) throw();
    void _M_unhook() throw();
};

// The nodes of `from` are those of `to`, which has none.
static void take_all(_List_node_base &to, _List_node_base &from) {
    to._M_next = from._M_next;
    to._M_prev = from._M_prev;
    to._M_next->_M_prev = to._M_prev->_M_next = &to;
    from._M_next = from._M_prev = &from;
}

void _List_node_base::swap(_List_node_base &one, _List_node_base &other) throw() {
    bool is_empty = one._M_next == &one, is_other_empty = other._M_next == &other;
    if (is_empty && is_other_empty) return;
    if (is_empty) return take_all(one, other);
    if (is_other_empty) return take_all(other, one);
    _List_node_base *next = one._M_next, *last = one._M_prev;
    one._M_next = other._M_next;
    one._M_prev = other._M_prev;
    other._M_next = next;
    other._M_prev = last;
    one._M_next->_M_prev = one._M_prev->_M_next = &one;
    next->_M_prev = last->_M_next = &other;
}

void _List_node_base::_M_transfer(_List_node_base *const first, _List_node_base *const end) throw() {
    if (this == end) return;
    _List_node_base *last = end->_M_prev, *before = _M_prev;
    first->_M_prev->_M_next = end;
    end->_M_prev = first->_M_prev;
    last->_M_next = this;
    before->_M_next = first;
    first->_M_prev = before;
    _M_prev = last;
}

void _List_node_base::_M_reverse() throw() {
    _List_node_base *node = this;
    do {
        _List_node_base *next = node->_M_next;
        node->_M_next = node->_M_prev;
        node->_M_prev = next;
        node = next;
    } while (node != this);
}

void _List_node_base::_M_hook(_List_node_base *const position) throw() {
    _M_next = position;
    _M_prev = position->_M_prev;
    position->_M_prev->_M_next = this;
    position->_M_prev = this;
}

void _List_node_base::_M_unhook() throw() {
    _List_node_base *const next = _M_next, *const before = _M_prev;
    before->_M_next = next;
    next->_M_prev = before;
}

} // namespace __detail
} // namespace std
