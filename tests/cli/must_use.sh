#!/bin/sh
# The compiler warns when a program drops an answer it needs; RAD_IGNORE says that it does so on purpose.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

compile() { ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$src/include" -c "$1" -o made.o >err 2>&1; }

# Into FILE: for each call of stdin a function with every variable that one may need. One run of the compiler for all.
programs() { # FILE STATEMENT, with %s for the call
    words='rad_chan *c, rad_nursery *n, rad_mutex *m, rad_rwlock *l, rad_cond *k, rad_once *o, rad_waitgroup *g,
           rad_barrier *b, rad_semaphore *s, rad_select_case *e, rad_fiber *f, rad_runtime *r, rad_ticker *t, rad_fn fn, void *v'
    unused='(void)c, (void)n, (void)m, (void)l, (void)k, (void)o, (void)g, (void)b, (void)s, (void)e, (void)f, (void)r,
        (void)t, (void)fn, (void)v;'
    count=0
    echo '#include <raddle.h>' >"$1"
    while read -r call; do
        count=$((count + 1))
        # shellcheck disable=SC2059 # STATEMENT is a format
        printf "void use_$count($words);\nvoid use_$count($words)\n{\n$unused\n#line $count \"call\"\n$2;\n}\n" "$call" >>"$1"
    done
}

cat >calls <<'END'
rad_main(NULL, fn, v, NULL)
rad_runtime_spawn(r, NULL, fn, v)
rad_spawn(NULL, fn, v)
rad_join(*f, NULL, RAD_FOREVER)
rad_ticker_wait(t, NULL, RAD_FOREVER)
rad_nursery_spawn(n, NULL, fn, v)
rad_nursery_wait(n)
rad_send(c, v, RAD_FOREVER)
rad_recv(c, v, RAD_FOREVER)
rad_send_many(c, v, 2, RAD_FOREVER)
rad_recv_many(c, v, 2, RAD_FOREVER)
rad_select(e, 1, RAD_FOREVER)
rad_mutex_lock_until(m, RAD_FOREVER)
rad_rwlock_read_until(l, RAD_FOREVER)
rad_rwlock_write_until(l, RAD_FOREVER)
rad_cond_wait(k, m, RAD_FOREVER)
rad_semaphore_acquire(s, 1, RAD_FOREVER)
rad_waitgroup_wait(g, RAD_FOREVER)
rad_once_run(o, fn, v, RAD_FOREVER)
rad_barrier_wait(b, RAD_FOREVER)
rad_read(0, v, 1, RAD_FOREVER)
rad_write(1, v, 1, RAD_FOREVER)
rad_blocking(fn, v, NULL, RAD_FOREVER)
END
programs dropped.c '%s' <calls
compile dropped.c
grep 'unused.result' err >warned
programs meant.c 'RAD_IGNORE(%s)' <calls
check "RAD_IGNORE: no warning" compile meant.c
line=0
while read -r call; do
    line=$((line + 1))
    check "the compiler warns: $call" grep -q "^call:$line:" warned
done <calls

cat >calls <<'END'
rad_mutex_lock(m)
rad_rwlock_read(l)
rad_rwlock_write(l)
rad_nursery_go(n, fn, v)
rad_sleep(1)
END
programs plain.c '%s' <calls
check "without an answer to look at" compile plain.c

sed -n '/^```c$/,/^```$/p' "$src/docs/fibers.md" | sed '/^```$/,$d' | grep -v '^```' >first.c
check "the program of docs/fibers.md compiles without a warning" compile first.c
finish
