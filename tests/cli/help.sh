#!/bin/sh
# Every command explains itself; the front door answers without a command. Their examples: help_examples.sh.
. "$(dirname "$0")/tap"

for verb in tour list run explore replay shrink show corpus test cc c++ exec session load flow; do
    try "$verb" --help
    status 0 "$verb --help"
    silent "$verb --help"
    has out "raddle $verb" "$verb --help names the verb"
    check "$verb --help says how it is called first" grep -q "^Usage: raddle $verb " out
    check "$verb --help has options" grep -qxE "Options|Commands" out
    has out "Exit status: " "$verb --help has the exit status"
    line out "Examples" "$verb --help has examples"
    has out "  raddle $verb" "$verb --help has an example of its own"
    cp out first
    try "$verb" -h
    same out first "$verb -h is the same"
    try help "$verb"
    same out first "help $verb is the same"
    check "$verb --help fits 100 columns" sh -c '! LC_ALL=C.UTF-8 grep -q ".\{101,\}" first'
    try --help
    has out "  $verb" "--help lists $verb"
done

try --help
status 0 "--help"
silent "--help"
cp out first
try
status 2 "no command at all"
same out first "no command prints the help"
try help
same out first "help is --help"

try --version
status 0 "--version"
check "--version is one line" [ "$(wc -l <out)" = 1 ]
check "--version has a version" grep -qE '^raddle [0-9]+\.[0-9]+\.[0-9]+ \(' out
finish
