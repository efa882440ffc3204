#!/bin/sh
# Bad usage: status 2, nothing on stdout, a message that names the word and the next step.
. "$(dirname "$0")/tap"

bad() { # MESSAGE ARGS…: the first line on stderr is MESSAGE
    message=$1
    shift
    try "$@"
    status 2 "raddle $*"
    check "raddle $*: nothing on stdout" [ ! -s out ]
    head -n 1 err >first
    is first "$message" "raddle $*: the message"
    check "raddle $*: a next step" grep -qE "raddle( [a-z]+)? --help|raddle list|raddle [a-z]+" err
}

bad "raddle: unknown command 'exlpore'; did you mean 'explore'?" exlpore
bad "raddle: unknown command 'zzz'" zzz
bad "raddle: unknown option '--bogus'" --bogus
bad "raddle explore: unknown option '--run'; did you mean '--runs'?" explore counter --run 5
bad "raddle explore: unknown option '--strateg=x'; did you mean '--strategy'?" explore counter --strateg=x
bad "raddle explore: unknown option '--xyzzy'" explore counter --xyzzy
bad "raddle explore: unknown option '-z'" explore counter -z
bad "raddle explore: --runs needs a value (N)" explore counter --runs
bad "raddle explore: -j needs a value (N)" explore counter -j
bad "raddle explore: --runs 'many': use a whole number from 1 to 1000000000000" explore counter --runs many
bad "raddle explore: --runs '0': use a whole number from 1 to 1000000000000" explore counter --runs 0
bad "raddle explore: --runs '': use a whole number from 1 to 1000000000000" explore counter --runs=
bad "raddle explore: --jobs '0': use a whole number from 1 to 64" explore counter -j 0
bad "raddle explore: --jobs '257': use a whole number from 1 to 64" explore counter -j257
bad "raddle explore: --seed '-1': use a whole number from 0 to 9223372036854775807" explore counter --seed -1
bad "raddle explore: --seed '9223372036854775808': use a whole number from 0 to 9223372036854775807" \
    explore counter --seed 9223372036854775808
bad "raddle explore: --seed '99999999999999999999': use a whole number from 0 to 9223372036854775807" \
    explore counter --seed 99999999999999999999
bad "raddle explore: --time 'soon': use seconds, such as 60 or 0.5" explore counter --time soon
bad "raddle explore: --time '0': use seconds, such as 60 or 0.5" explore counter --time 0
bad "raddle explore: --json takes no value: '--json=yes'" explore counter --json=yes
bad "raddle explore: missing TARGET: ./PROGRAM, a machine, or a file" explore
bad "raddle explore: unknown machine 'countr'; did you mean 'counter'?" explore countr
bad "raddle explore: unknown machine '--runs'" explore -- --runs
bad "raddle explore: './prog': No such file or directory" explore ./prog
bad "raddle explore: missing machine before 'n=3'" explore n=3 counter
bad "raddle explore: --apart needs a program: raddle explore [options] ./PROGRAM" explore counter --apart
bad "raddle replay: --real-threads needs a program: raddle replay FILE -- ./PROGRAM" replay x.json --real-threads
bad "raddle explore: unknown strategy 'surv'; did you mean 'surw'? 'raddle list' shows all" \
    explore counter --strategy surv
bad "raddle explore: --output: 'nowhere' is not an existing directory" explore counter --output nowhere
bad "raddle run: unknown policy 'randon'; did you mean 'random'? 'raddle list' shows all" \
    run counter --policy randon
bad "raddle run: --log-limit needs --log" \
    run counter --log-limit 100
bad "raddle replay: missing FILE; usage: raddle replay FILE" replay
bad "raddle replay: unexpected argument 'b': give one file" replay a b
bad "raddle replay: --fixed and --original: give one" replay a --repaired --original
bad "raddle show: --width '39': use a whole number from 40 to 1000" show a --width 39
bad "raddle corpus: missing DIR; usage: raddle corpus DIR" corpus
bad "raddle list: unexpected argument 'x'; a program is a path with a slash, such as ./x" list x
bad "raddle tour: unexpected argument 'x'" tour x

# Files where something else is expected: what they are, and what to give.
mkdir dir
echo 'int main(void) { return 0; }' >main.c
echo text >notes.md
printf 'RADLOAD\n' >run.log
printf 'RADFLOW\n' >journal
refuses() { # MESSAGE ARGS…: the same without a second line
    message=$1
    shift
    try "$@"
    status 2 "raddle $*"
    head -n 1 err >first
    is first "$message" "raddle $*: the message"
}
refuses "raddle explore: 'main.c': a source file; compile it with -g, and give the program: ./main" explore main.c
refuses "raddle explore: 'dir': a directory; expected ./PROGRAM, a machine, or a file" explore dir
refuses "raddle explore: 'notes.md': expected ./PROGRAM, a machine, or a file: .json, .session, .flow, .toml, a decision log" \
    explore notes.md
for verb in replay shrink; do
    refuses "raddle $verb: 'notes.md': neither a schedule file (JSON) nor a decision log" $verb notes.md
    refuses "raddle $verb: 'run.log': the log of a load test; 'raddle load replay' takes it" $verb run.log
    refuses "raddle $verb: 'journal': the journal of a workflow; 'raddle flow replay' takes its directory" $verb journal
done
refuses "raddle replay: 'dir': a directory; 'raddle corpus' replays all files of one" replay dir
refuses "raddle session check: 'dir': a directory, not a regular file" session check dir
refuses "raddle load replay: 'dir': a directory, not a regular file" load replay dir
try run bank --log bank.raddle.log
head -c 40 bank.raddle.log >cut.raddle.log
refuses "raddle replay: cut.raddle.log: cut off: the file ends within its head" replay cut.raddle.log
refuses "raddle replay: unexpected argument 'bank.raddle.log': give one file; a DOCUMENT needs --realign" \
    replay bank.raddle.log bank.raddle.log
bad "raddle run: --artifact '': the name (FILE) is empty" run counter --artifact ''
bad "raddle explore: --output '': the name (DIR) is empty" explore counter --output=
bad "raddle test: 'tests': a program is a path with a slash, such as ./tests" test tests

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
bad "raddle session run: --protocol: unknown protocol 'Foo'; use Ring" session run ring.session --protocol Foo
bad "raddle session project: --role: Ring has no role 'X'; use A, B" session project ring.session --role X
bad "raddle session trace: --session '9': there are 1, counted from 0; --sessions opens more" session trace ring.session --session 9
bad "raddle session invariant: --policies 'x': use cooperative, round-robin, progress or all" \
    session invariant ring.session --policies x
bad "raddle flow validate: --allow: unknown property 'x'; use deadlock, dead-task, dead-code, improper, livelock, end, confluence" \
    flow validate two.flow --allow x
refuses "raddle flow run: two.flow: there is no flow 'x'; use two" flow run two.flow --flow x
refuses "raddle flow run: two.case: there is no data x in the flow two; use reason" flow run two.flow x=1
refuses "raddle flow status: dir: holds no execution (no journal)" flow status dir
refuses "raddle load: URL: expected a host after //, found 'http://'" load http://
bad "raddle load: unknown command 'localhost:8080'; a URL begins with http:// or https://" load localhost:8080

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
