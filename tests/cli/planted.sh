#!/bin/sh
# Lists of planted bugs: what matches, what is planted, and that every mistake in a list is an error (tools/plant.c).
. "$(dirname "$0")/tap"

mkdir -p t/src/a t/src/b t/include t/tests/unit/base t/tests/hunt
cat >t/src/a/one.c <<'END'
/* take(1) in a comment */
#define LIMIT(x) \
    ((x) + 1)
static const int table[] = {1, 2, 3};
static int add(int a, int b)
{
    const char *text = "take(1); \" /* no comment */";
    return text[0] == '"' ? a + b : a - b;
}

__attribute__((noinline)) int take(int n)
{
#if defined(WIDE)
    if (n > 2 &&
        add(n, /* wrapped */ 0x1fu) >= 1.5e-3) /* and
        commented */
        return add(n,
                   2);
#endif
    n += 1;
    n += 1;
    return n;
}
END
printf 'static int add(int a, int b)\n{\n    return a + b;\n}\n' >t/src/b/two.c
printf 'static inline int half(int n) { return n / 2; }\n' >t/include/half.h
echo 'static void it_adds(void **state) {}' >t/tests/unit/base/test_x.c
touch t/tests/hunt/hunt_y.c

plant() { # LINE…: as a list, in $status, err, planted/
    rm -rf planted && mkdir planted
    printf '%s\n' "$@" >list.txt
    "$RADDLE_BUILD/tests/plant" -o planted t list.txt >out 2>err
    status=$?
}

good() { # LINE TEXT: the bug is planted, and a line of the file is then TEXT, but for spaces
    plant "$1"
    status 0 "$1"
    tr -d ' ' <planted/list.00001/planted >squeezed
    line squeezed "$(echo "$2" | tr -d ' ')" "$1: planted"
}

bad() { # LINE REASON
    plant "# a comment" "$1"
    status 2 "$1"
    is err "list.txt:2: $2" "$1: the reason"
}

good "b in take: return n; => return 0; by base_x" "return 0;"
good "b in take: return n;=>by base_x:it_adds" ""
good "b in take: if (n>2 && add(n,0x1fu)>=1.5e-3) return add(n, 2); => return 7; by hunt:y symbols" "return 7;"
good "b in one.c:add: text[0] == '\"' ? a + b : a - b => a by tsan:base_x asan:base_x" "return a;"
good "b in a/one.c: ((x) + 1) => (x) by base_x" "(x)"
good "b in one.c: {1, 2, 3} => {1, 2} by base_x" "static const int table[] = {1, 2};"
good "b in half: n / 2 => n >> 1 by base_x" "static inline int half(int n) { return n >> 1; }"
good "b in half: int n => int by by base_x" "static inline int half(int by) { return n / 2; }"
mv t/src/a/one.c t/src/b/renamed.c
good "b in take: return n; => return 0; by base_x" "return 0;"
is planted/list.00001/file "src/b/renamed.c" "the file is found by its function"
mv t/src/b/renamed.c t/src/a/one.c

bad "b in take: take(1) => by base_x" "b: OLD does not occur in take"
bad "b in take: return m; => by base_x" "b: OLD does not occur in take"
bad "b in take: n + = 1 => by base_x" "b: OLD does not occur in take"
bad "b in take: n += 1; => by base_x" "b: OLD occurs 2 times in take"
bad "b in half: return => by base_x by z" "b: no test z"
bad "b in add: a + b => a by base_x" "b: function add is in src/a/one.c and in src/b/two.c"
bad "b in give: a => b by base_x" "b: no function give"
bad "b in two.c:take: a => b by base_x" "b: no function take in two.c"
bad "b in ne.c: a => b by base_x" "b: no file ne.c"
bad "b in take: return n => return 0" "b: expected OLD => NEW by TEST..."
bad "b in take: => n by base_x" "b: OLD is empty"
bad "b in take return n; => by base_x" "expected NAME in [FILE:]FUNCTION: OLD => NEW by TEST..."
bad "b in take: return n; => by" "b: expected a test after 'by'"
bad "b in take: return n; => by base_x:it_ad" "b: no test base_x:it_ad"
bad "b in take: return n; => by hunt:x" "b: no test hunt:x"
plant "b in take: return n; => by base_x" "b in half: n / 2 => n by base_x"
status 2 "two bugs of one name"
is err "list.txt:2: b: the name is already in list.txt:1" "two bugs of one name: the reason"
check "nothing is planted then" [ -z "$(ls planted)" ]
finish
