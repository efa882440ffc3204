#!/bin/sh
# Headers that are written from protocols compile with every compiler there is, all roles together, without a warning.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
build=${RADDLE_BUILD:-$(dirname "$RADDLE")}
src=$(cd "$src" && pwd)

# FILE ROLE...: of a family one role is enough.
compiles() {
    file=$1
    shift
    : >all.c
    for role in "$@"; do
        "$build/examples/write_stub" "$file" "$role" >"$role.h" || return 1
        echo "#include \"$role.h\"" >>all.c
    done
    echo 'int main(void) { return 0; }' >>all.c
    for cc in gcc clang; do
        command -v $cc >/dev/null || continue
        check "$(basename "$file"): $cc has nothing to say" $cc -std=c11 -pedantic -Wall -Wextra -Wshadow \
            -Wconversion -Werror -I"$src/include" -I. -fsyntax-only all.c
    done
}

examples=$src/examples/session
compiles "$examples/two_buyer.session" Alice Bob Seller
compiles "$examples/oauth.session" User App Authority
compiles "$examples/smtp.session" Client Server
compiles "$examples/ring.session" 'R[1]'
compiles "$examples/streaming.session" Source Sink
compiles "$examples/two_phase_commit.session" Coordinator 'W[2]'
compiles "$examples/raft_vote.session" Candidate 'V[4]'

# Words of C as fields, one name with several kinds of fields, eight fields.
cat >words.session <<'END'
protocol Words {
  roles A, W[0..2]
  A -> W[0]: m(if: int, self: text, which: bool, int, value_4: int, until: text, errno: int, linux: int)
  W[0] -> A: m(text, text)
  A does if
  par { A -> W[1]: m } and { W[2] -> A: m(while: bool) }
}
END
compiles words.session A 'W[0]'

for path in "$examples"/*.session; do
    check "$(basename "$path") is tested" grep -q "$(basename "$path")" "$0"
done
"$build/examples/write_stub" words.session Nobody >out 2>err
status=$?
status 2 "a role that is not there is refused"
has err "there is no role Nobody" "and named"
finish
