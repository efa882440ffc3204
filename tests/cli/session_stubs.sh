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
    check "$(basename "$file"): no message has the number 0, which is success" sh -c '! grep -E "_is_[^ ]* = 0[,;]?( |$)" *.h'
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

# State of handlers was one pointer for a session, which two roles shared. Code that relies on it must not compile and
# mean something else.
for use in 'if (*e->state == 0) return RAD_EFFECT_FAILED;' 'void **mine = (void **)e->state; (void)mine;'; do
    printf '#include <raddle/session.h>\nenum rad_effect_result f(void *c, rad_effect *e);\n%s\n' \
        "enum rad_effect_result f(void *c, rad_effect *e) { (void)c; $use return RAD_EFFECT_DONE; }" >old.c
    sed 's/e->state/e->coroutine_state/; s/\*e->c/e->c/' old.c >new.c
    check "a handler with state of its coroutine compiles" gcc -Werror -I"$src/include" -fsyntax-only new.c
    check "one with state of its session does not" sh -c "! gcc -I'$src/include' -fsyntax-only old.c"
done
printf '#include <raddle/session.h>\nvoid f(rad_session_vm *vm);\nvoid f(rad_session_vm *vm) { rad_session_on_free(vm, 0); }\n' >old.c
check "nor does what freed it" sh -c "! gcc -Werror=implicit-function-declaration -I'$src/include' -fsyntax-only old.c"
finish
