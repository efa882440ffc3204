#!/bin/sh
# Bad usage: status 2, nothing on stdout, a message that names the word and the next step.
. "$(dirname "$0")/tap"

# What is pinned of a message is what a user acts on: the command that speaks, the word that it means, and the hint. The
# rest of the sentence may change. PATTERN is one of the shell, without the leading "raddle ".
says() { # PATTERN NAME: the first line on stderr
    IFS= read -r first <err
    # shellcheck disable=SC2254 # a pattern
    case ${first#raddle } in
        $1) report 0 "$2" ;;
        *) report 1 "$2: expected $1" err ;;
    esac
}

bad() { # PATTERN ARGS…
    pattern=$1
    shift
    try "$@"
    status 2 "raddle $*"
    check "raddle $*: nothing on stdout" [ ! -s out ]
    says "$pattern" "raddle $*: the message"
    check "raddle $*: a next step" grep -qE "raddle( [a-z]+)? --help|raddle list|raddle [a-z]+" err
}

bad "raddle:*'exlpore'*'explore'*" exlpore
bad "raddle:*'zzz'" zzz
bad "raddle:*'--bogus'" --bogus
bad "explore:*'--run'*'--runs'*" explore counter --run 5
bad "explore:*'--strateg=x'*'--strategy'*" explore counter --strateg=x
bad "explore:*'--xyzzy'" explore counter --xyzzy
bad "explore:*'-z'" explore counter -z
bad "explore:*--runs*N*" explore counter --runs
bad "explore:*-j*N*" explore counter -j
bad "explore: --runs 'many':*1 to 1000000000000" explore counter --runs many
bad "explore: --runs '0':*1 to 1000000000000" explore counter --runs 0
bad "explore: --runs '':*1 to 1000000000000" explore counter --runs=
bad "explore: --jobs '0':*1 to 64" explore counter -j 0
bad "explore: --jobs '257':*1 to 64" explore counter -j257
bad "explore: --seed '-1':*0 to 9223372036854775807" explore counter --seed -1
bad "explore: --seed '9223372036854775808':*0 to 9223372036854775807" explore counter --seed 9223372036854775808
bad "explore: --seed '99999999999999999999':*0 to 9223372036854775807" explore counter --seed 99999999999999999999
bad "explore: --time 'soon':*seconds*" explore counter --time soon
bad "explore: --time '0':*seconds*" explore counter --time 0
bad "explore:*no value*'--json=yes'" explore counter --json=yes
bad "explore: missing TARGET*./PROGRAM*machine*file" explore
bad "explore:*machine 'countr'*'counter'*" explore countr
bad "explore:*machine '--runs'" explore -- --runs
bad "explore: './prog':*No such file*" explore ./prog
bad "explore:*machine*'n=3'" explore n=3 counter
bad "explore:*--apart*program*./PROGRAM" explore counter --apart
bad "replay:*--real-threads*program*./PROGRAM" replay x.json --real-threads
bad "explore:*strategy 'surv'*'surw'*'raddle list'*" explore counter --strategy surv
bad "explore: --output: 'nowhere'*directory" explore counter --output nowhere
bad "run:*policy 'randon'*'random'*'raddle list'*" run counter --policy randon
bad "run:*--log-limit*--log" run counter --log-limit 100
bad "replay: missing FILE*raddle replay FILE" replay
bad "replay:*'b'*one file" replay a b
bad "replay:*--fixed*--original*" replay a --repaired --original
bad "show: --width '39':*40 to 1000" show a --width 39
bad "corpus: missing DIR*raddle corpus DIR" corpus
bad "list:*'x'*slash*./x" list x
bad "tour:*'x'" tour x

# Files where something else is expected: what they are, and what to give.
mkdir dir
echo 'int main(void) { return 0; }' >main.c
echo text >notes.md
printf 'RADLOAD\n' >run.log
printf 'RADFLOW\n' >journal
refuses() { # PATTERN ARGS…: the same without a second line
    pattern=$1
    shift
    try "$@"
    status 2 "raddle $*"
    says "$pattern" "raddle $*: the message"
}
refuses "explore: 'main.c':*source file*-g*./main" explore main.c
refuses "explore: 'dir':*directory*./PROGRAM*machine*file" explore dir
refuses "explore: 'notes.md':*.json*.session*.flow*.toml*decision log" \
    explore notes.md
for verb in replay shrink; do
    refuses "$verb: 'notes.md':*schedule file*decision log" $verb notes.md
    refuses "$verb: 'run.log':*load test*'raddle load replay'*" $verb run.log
    refuses "$verb: 'journal':*workflow*'raddle flow replay'*directory" $verb journal
done
refuses "replay: 'dir':*directory*'raddle corpus'*" replay dir
refuses "session check: 'dir':*directory*" session check dir
refuses "load replay: 'dir':*directory*" load replay dir
try run bank --log bank.raddle.log
head -c 40 bank.raddle.log >cut.raddle.log
refuses "replay: cut.raddle.log: cut off*" replay cut.raddle.log
refuses "replay:*'bank.raddle.log'*one file*--realign" \
    replay bank.raddle.log bank.raddle.log
bad "run: --artifact '':*FILE*empty" run counter --artifact ''
bad "explore: --output '':*DIR*empty" explore counter --output=
bad "test: 'tests':*slash*./tests" test tests

rm -f -- *.raddle.log

# What there is to choose from.
cat >ring.session <<'END'
protocol Ring {
  roles A, B
  A -> B: token(lap: int)
}
END
cat >two.flow <<'END'
flow two {
    data { reason : text }
    task a { run "true" }
    do a
}
END
bad "session run: --protocol:*'Foo'*Ring" session run ring.session --protocol Foo
bad "session project: --role:*'X'*A, B" session project ring.session --role X
bad "session trace: --session '9':*from 0*--sessions*" session trace ring.session --session 9
bad "session invariant: --policies 'x':*cooperative, round-robin, progress*all" \
    session invariant ring.session --policies x
bad "flow validate: --allow:*'x'*deadlock, dead-task, dead-code, improper, livelock, end, confluence" \
    flow validate two.flow --allow x
refuses "flow run: two.flow:*flow 'x'*two" flow run two.flow --flow x
refuses "flow run: two.case:*data x*reason" flow run two.flow x=1
refuses "flow status: dir:*no journal*" flow status dir
refuses "load: URL:*host*'http://'" load http://
bad "load: --header 'A: 2':*already" load http://127.0.0.1:1/ -H 'a: 1' -H 'A: 2'
bad "load: --header ': 1':*Name: value*" load http://127.0.0.1:1/ -H ': 1'
bad "load: --streams*--http2" load http://127.0.0.1:1/ --streams 2
bad "load: --engine 'simulated':*epoll*uring" load http://127.0.0.1:1/ --engine simulated
bad "load run: --engine 'fast':*simulated, epoll*uring" load run "$RADDLE_SRC/examples/load/sim-closed.toml" --no-log --engine fast
refuses "load run:*[[]simulated]*--target URL*" load run "$RADDLE_SRC/examples/load/sim-closed.toml" --no-log --engine epoll
bad "load run: --json*--csv*" load run x.toml --json --csv
bad "load:*'localhost:8080'*http:// or https://" load localhost:8080

# The library's own messages: they name the parameter and its range.
try explore counter n=1
status 2 "a parameter out of range"
has err "n=1" "names the word"
has err "2 ... 64" "names the range"
try explore counter bogus=1
status 2 "an unknown parameter"
has err "'bogus'" "names the word"
has err "counter has: n, k" "names the parameters there are"
try explore counter n=two
status 2 "a parameter that is no number"
has err "n=two" "names the word"
try explore counter n
status 2 "a word without ="
try explore counter --strategy preempt:x
status 2 "a strategy with a bad bound"
check "a bad bound: nothing on stdout" [ ! -s out ]
try run counter --policy pct:0
status 2 "a policy with a bad depth"
check "a bad depth: nothing on stdout" [ ! -s out ]

# Accepted forms.
try run counter n=3 --seed=9223372036854775807 --policy=random --repaired
status 0 "--name=value"
has out "seed 9223372036854775807" "the seed is printed"
try explore -j2 --runs 50 --repaired -- counter n=2
status 0 "-jN, and -- before the words"
check "no file was left behind" sh -c '! ls | grep -q raddle'
finish
