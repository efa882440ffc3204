#!/bin/sh
# The decoder that conformance suites of TOML call: stdin to stdout, status 1 for what is no TOML, in any locale.
. "$(dirname "$0")/tap"

decode() { # TEXT, with printf's escapes
    # shellcheck disable=SC2059 # it is a format
    printf "$1" | env LOCPATH="$PWD/locales" LC_ALL="$locale" "$RADDLE_BUILD/tests/toml_decode" >out 2>err
    status=$?
}

locale=C
decode 'a.b = [1, "x"]\n[t]\nat = 1979-05-27 07:32:00Z\n'
status 0 "a document"
is out '{"a": {"b": [{"type": "integer", "value": "1"}, {"type": "string", "value": "x"}]}, "t": {"at": {"type": "datetime", "value": "1979-05-27T07:32:00Z"}}}' "its JSON"
silent "a document"

decode ''
status 0 "no bytes"
is out '{}' "no bytes are an empty table"

decode 'a = 1\na = 2\n'
status 1 "a key that comes twice"
is err "stdin:2:1: expected a new key, found 'a', which is an integer since line 1" "its message"
check "nothing on stdout" [ ! -s out ]

# Where the decimal point is a comma.
{ # all of German took 1.8 s: its numbers are enough
    for category in CTYPE COLLATE TIME NUMERIC MONETARY MESSAGES; do
        from=POSIX
        [ $category != NUMERIC ] || from=de_DE
        printf 'LC_%s\ncopy "%s"\nEND LC_%s\n' $category $from $category
    done
} >comma
mkdir locales
localedef -c -i ./comma -f UTF-8 locales/de_DE.UTF-8 >/dev/null 2>&1 # its status says that it has warned
if [ "$(env LOCPATH="$PWD/locales" LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ]; then
    locale=de_DE.UTF-8
    decode 'a = 2.5\nb = -1_000.125e-2\n'
    status 0 "floats in a locale with a decimal comma"
    is out '{"a": {"type": "float", "value": "2.5e+00"}, "b": {"type": "float", "value": "-1.000125e+01"}}' \
        "their JSON"
else
    report 0 "floats in a locale with a decimal comma # SKIP localedef cannot make one here"
fi

finish
