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
bad "raddle explore: missing MACHINE; usage: raddle explore MACHINE [NAME=VALUE ...]" explore
bad "raddle explore: unknown machine 'countr'; did you mean 'counter'?" explore countr
bad "raddle explore: unknown machine '--runs'" explore -- --runs
bad "raddle explore: './prog': No such file or directory" explore ./prog
bad "raddle explore: missing machine before 'n=3'" explore n=3 counter
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
bad "raddle list: unexpected argument 'x'" list x
bad "raddle tour: unexpected argument 'x'" tour x

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
