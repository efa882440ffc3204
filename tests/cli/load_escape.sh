#!/bin/sh
# Values of templates arrive as they are, whatever is in them: in a path, a query, a header, a form, in JSON. Our server
# sends back what it was sent.
. "$(dirname "$0")/tap"

"$RADDLE" load serve --port 0 >served 2>served.err </dev/null &
server=$!
trap 'kill -s TERM $server 2>/dev/null' EXIT
soon grep listening served
port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)

scenario() { # REQUEST KEYS, CHECK: on stdout
    cat <<T
[metadata]
name = "values"
version = "1"
[runtime]
iterations = 1
vus = 1
[target]
base_url = "http://127.0.0.1:$port"
[[requests]]
$1
checks = [{ $2 }]
[[data]]
name = "v"
file = "v.csv"
columns = ["of"]
[assertions]
checks_min = 1
success_rate_min = 1
T
}

arrives() { # NAME, REQUEST KEYS, CHECK
    scenario "$2" "$3" >values.toml
    try load run values.toml -o values.log
    status 0 "$1"
}

csv() { # VALUE: the only row of the data file
    printf '"%s"\n' "$(printf %s "$1" | sed 's/"/""/g')" >v.csv
}

csv 'a b/c?d=1&e%20+"f"'
coded='a%20b%2Fc%3Fd%3D1%26e%2520%2B%22f%22'
arrives "a path" 'path = "/head?${data:v.of}"' "body_contains = 'GET /head?$coded HTTP'"
arrives "a query" 'path = "/head?q=${data:v.of}&r=1"' "body_contains = 'GET /head?q=$coded&r=1 HTTP'"
arrives "a header" "path = '/head'
headers = { X-V = '\${data:v.of}' }" "body_contains = 'X-V: a b/c?d=1&e%20+\"f\"'"
arrives "a form" "path = '/echo'
method = 'POST'
headers = { Content-Type = 'application/x-www-form-urlencoded' }
body = 'v=\${data:v.of}&w=1'" "body_contains = 'v=a+b%2Fc%3Fd%3D1%26e%2520%2B%22f%22&w=1'"
arrives "JSON" "path = '/echo'
method = 'POST'
headers = { Content-Type = 'application/json' }
body = '{\"v\": \"\${data:v.of}\"}'" "json = '/v', equals = 'a b/c?d=1&e%20+\"f\"'"
arrives "raw" 'path = "/head?${data:v.of|raw}"' "body_contains = 'GET /head?a%20b/c?d=1&e%20+%22f%22 HTTP'"

# A value that would break out of its place makes the request fail; the run says so.
printf '"a\r\nX-Evil: 1"\n' >v.csv
scenario "path = '/head'
headers = { X-V = '\${data:v.of}' }" "status = 200" >values.toml
try load run values.toml -o values.log
status 1 "a line break in a header"
has out InvalidRequest "is an invalid request"
arrives "a line break in JSON" "path = '/echo'
method = 'POST'
headers = { Content-Type = 'application/json' }
body = '{\"v\": \"\${data:v.of}\"}'" "json = '/v', equals = \"a\\r\\nX-Evil: 1\""
csv '1, "admin": true'
scenario "path = '/echo'
method = 'POST'
headers = { Content-Type = 'application/json' }
body = '{\"v\": \${data:v.of}}'" "status = 200" >values.toml
try load run values.toml -o values.log
status 1 "more than a value outside of quotes"
has out InvalidRequest "is an invalid request, too"

# What is written wrongly is told with its place.
scenario 'path = "/${data:v.of|xml}"' "status = 200" >values.toml
try load validate values.toml
status 2 "an escape that does not exist"
has err "values.toml:10:8" "its place"
scenario 'path = "/${vu|xml}"' "status = 200" >values.toml
try load validate values.toml
status 2 "the same of another placeholder"
has err "expected raw, url, form or json" "what there is"

finish
