#!/bin/bash
# Threads that wait for descriptors: tests/programs/pipes.c has a bug under each name, and the fixed version of it.
. "$(dirname "$0")/under_test"

has_library "descriptors under test"
makes_threads pipes

runs=40
finds_in pipes crossed deadlock:descriptor
finds_in pipes full deadlock:descriptor+mutex
finds_in pipes stolen "assertion@fixed || byte == *(char *)expected in takes"
finds_in pipes broken crash:SIGPIPE
finds_in pipes locked deadlock:stream

try explore --runs 40 --clock quiet ./pipes answers
status 0 "what the calls answer, in 40 runs"
has out "equal in a fresh process" "which leave nothing behind"
hasnt out "uncontrolled" "and all are controlled"
finish
