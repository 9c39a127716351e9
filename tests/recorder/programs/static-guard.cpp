// A static that is made at the first call and has a destructor.
struct Number {
    int value;
    ~Number() {}
};

static int number() {
    static Number number{1};
    return number.value;
}

int main() { return number() - 1; }
