#!/bin/sh
# Nothing measured is not 0 ms: a run without any response fails and says why, a threshold without data does not hold, and
# no form of the result has a number where there is none.
. "$(dirname "$0")/tap"

servers=
end_servers() {
    for server in $servers; do kill -s TERM "$server" 2>/dev/null; done
}
trap end_servers EXIT

serve() { # OPTIONS…: leaves $port and $server
    : >served
    "$RADDLE" load serve --port 0 "$@" >served 2>served.err </dev/null &
    server=$!
    servers="$servers $server"
    soon grep listening served
    port=$(sed -n 's/^listening on port \([0-9]*\).*/\1/p' served)
}

value() { # FILE KEY: the first of that name in JSON, as it stands there
    sed -n "s/^ *\"$2\": \(.*[^,]\),*\$/\1/p" "$1" | head -n 1
}

# ---- A server that is not there ---------------------------------------------------------------------------------------
serve
kill -s KILL "$server" # nobody else has this port so soon
wait "$server" 2>/dev/null
url=http://127.0.0.1:$port/
engines=epoll
try load "$url" -c 1 -d 0.05 --engine uring
if [ "$status" != 3 ]; then engines="epoll uring"; fi
for engine in $engines; do
    for how in "-c 2" "-c 2 -R 50" "-c 4 --shards 2"; do
        # shellcheck disable=SC2086
        try load "$url" $how -d 0.3 --engine "$engine" -o dead.log
        status 1 "$engine $how: nobody there"
        count=$(sed -n 's/.*: no response: \([0-9,]*\) requests sent: .*/\1/p' err)
        check "$engine $how: why, and how many ($(cat err))" [ -n "$count" ]
        has err "no response: $count requests sent: $count ConnectionRefused" "$engine $how: all of them refused"
        has out "no response: $count requests sent" "$engine $how: the summary says so"
        hasnt out "0.000" "$engine $how: and has no time of 0 ms"
    done
    try load "$url" -c 2 -d 0.3 --engine "$engine" --json
    status 1 "$engine --json: nobody there"
    for key in min_ns max_ns mean_ns stddev_ns p50_ns p90_ns p95_ns p99_ns p999_ns avg_connection_time_ns; do
        check "$engine --json: $key is null" [ "$(value out $key)" = null ]
    done
    check "$engine --json: every request failed" [ "$(value out success_rate)" = 0.000000 ]
    check "$engine --json: no answer a second" [ "$(value out rps)" = 0.000 ]
    check "$engine --json: why" grep -q '"no_data": "no response: [0-9,]* requests sent: [0-9,]* ConnectionRefused"' out
    has err "no response: " "$engine --json: why, on stderr too"
done

if command -v openssl >/dev/null 2>&1 &&
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost >/dev/null 2>&1; then
    for secure in 20443 21443 22443 23443; do
        openssl s_server -accept 127.0.0.1:$secure -cert cert.pem -key key.pem -www >tls.out 2>&1 </dev/null &
        server=$!
        until grep -q ACCEPT tls.out || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
        if kill -0 $server 2>/dev/null; then break; fi
    done
    servers="$servers $server"
    try load "https://127.0.0.1:$secure/" -c 2 -d 0.5
    status 1 "a certificate that nobody has signed"
    has err "CertificateInvalid" "is told"
    try load "https://127.0.0.1:$secure/" -c 2 -d 0.5 --insecure
    status 0 "unless it is believed"
else
    skip "certificates" "no openssl"
fi

# OpenSSL is loaded when a target needs it.
mkdir empty && : >empty/libssl.so.3
LD_LIBRARY_PATH=$PWD/empty try load https://127.0.0.1:9/ -c 1 -d 0.05
if grep -q "built without OpenSSL" err; then
    skip "OpenSSL when it is needed" "this build has none"
else
    status 3 "a system without OpenSSL"
    has err "TLS needs libssl.so.3 (OpenSSL 3), which cannot be loaded" "says what TLS needs"
    LD_LIBRARY_PATH=$PWD/empty try list
    status 0 "what talks to no server needs none"
fi

# ---- Simulated --------------------------------------------------------------------------------------------------------
scenario() { # TARGET ASSERTIONS: lines
    printf '%s\n' '[metadata]' 'name = "dead"' '[runtime]' 'duration_seconds = 2.5' 'vus = 4' '[[requests]]' 'name = "index"' \
        'path = "/"' 'checks = [ { status = 200 } ]' '[simulated]' 'latency_ms = 10'
    printf '%b\n' "$1"
    printf '%b\n' "$2"
}
scenario 'refuse_rate = 1' '' >dead.toml
scenario 'refuse_rate = 1' '[schedule]\ntype = "arrival_rate"\nrate = 20' >dead-open.toml
for file in dead dead-open; do
    for shards in 1 3; do
        try load run $file.toml --seed 1 --shards $shards -o $file.log
        status 1 "$file, $shards shards: without any assertion"
        check "$file, $shards shards: how many" grep -qE 'no response: ([0-9,]+) requests sent: \1 ConnectionRefused' err
        hasnt out "0.000" "$file, $shards shards: no time of 0 ms"
        cp err first
        try load analyze $file.log
        status 1 "$file, $shards shards: analyze"
        sed 's/^raddle load run: //' first >first.why
        sed 's/^raddle load analyze: //' err >second.why
        same first.why second.why "$file, $shards shards: analyze says the same"
        hasnt out "0.000" "$file, $shards shards: analyze: no time of 0 ms"
    done
    try load analyze $file.log --csv
    check "$file: CSV has empty fields" grep -qE '^[0-9]+,[0-9]+,0,,,,[0-9]+,[0-9]+$' out
    check "$file: CSV has no row with a time" [ "$(grep -cE '^[0-9]+,[0-9]+,[0-9]+,[0-9]' out)" = 0 ]
    try load analyze $file.log --prometheus
    has out 'z6_latency_seconds{scenario="dead",quantile="0.99"} NaN' "$file: Prometheus has NaN"
    has out 'z6_latency_seconds_count{scenario="dead"} 0' "$file: Prometheus has a count of 0"
    try load analyze $file.log --percentiles 50,99.9
    check "$file: percentiles" [ "$(grep -c 'no data service  *no data response' out)" = 2 ]
    try load analyze $file.log --percentiles 50,99.9 --json
    is out '{"p50":{"service_ns":null,"response_ns":null},"p99.9":{"service_ns":null,"response_ns":null}}' "$file: percentiles as JSON"
    try load report $file.log --output page.html
    status 1 "$file: report"
    has page.html "no data" "$file: the page has no data"
    check "$file: and no time of 0 ms" [ "$(grep -c '>0\.000<' page.html)" = 0 ]
    hasnt page.html " 0.000 ms" "$file: nor in words"
    try load analyze $file.log --json
    for key in min_ns max_ns mean_ns stddev_ns p50_ns p90_ns p95_ns p99_ns p999_ns; do
        check "$file: $key is null everywhere" [ "$(grep "\"$key\": " out | grep -vc null)" = 0 ]
    done
    check "$file: by name, too" [ "$(grep -c '"p99_ns": null' out)" -ge 2 ]
done
try load run dead.toml --seed 1 --output results
status 1 "a folder"
folder=$(echo results/run_*)
has "$folder/metrics.json" '"p99_ns": null' "metrics.json"
has "$folder/metadata.json" '"exit_code": 1' "metadata.json has the status"
has "$folder/summary.txt" "no response: " "summary.txt"
check "timeseries.csv" grep -qE '^0,0,0,,,,' "$folder/timeseries.csv"
for words in "--quiet" "--csv" "--prometheus" "--json"; do
    try load run dead.toml --seed 1 --no-log $words
    status 1 "run $words"
    has err "no response: " "run $words: why"
done

# ---- Thresholds -------------------------------------------------------------------------------------------------------
fails() { # NAME TARGET ASSERTION: it has no data, and therefore does not hold
    scenario "$2" "$3" >t.toml
    try load run t.toml --seed 1 -o t.log
    status 1 "$1"
    check "$1: no data" grep -qE '^  FAIL .* actual no data$' out
    try load replay t.log
    status 0 "$1: replays"
    try load analyze t.log --json
    check "$1: no data, as JSON" [ "$(value out actual)$(value out passed)" = nullfalse ]
}
for p in p50 p90 p95 p99 p999; do
    fails "${p}_latency_ms" 'refuse_rate = 1' "[assertions]\n${p}_latency_ms = 60000"
done
fails "p99_response_ms" 'refuse_rate = 1' '[schedule]\ntype = "arrival_rate"\nrate = 20\n[assertions]\np99_response_ms = 60000'
fails "status_5xx_max_rate" 'refuse_rate = 1' '[assertions]\nstatus_5xx_max_rate = 1'
fails "checks_min" 'refuse_rate = 1' '[assertions]\nchecks_min = 0'
fails "error_rate_max" 'loss_rate = 1' '[assertions]\nerror_rate_max = 1'
fails "success_rate_min" 'loss_rate = 1' '[assertions]\nsuccess_rate_min = 0'
scenario 'refuse_rate = 1' '[assertions]\nerror_rate_max = 1' >t.toml
try load run t.toml --seed 1 --no-log
status 1 "an assertion that holds does not make it good"
has out "pass error_rate_max" "though it holds: it has data"
has err "no response: " "which is why"
# Data may still come: lack of it aborts nothing, and fails at the end.
scenario 'refuse_rate = 1' '[assertions]\np99_latency_ms = { max = 60000, abort = true }' >t.toml
try load run t.toml --seed 1 --no-log
status 1 "abort without data"
has out "as planned" "the run goes to its end"
scenario 'refuse_rate = 1' '[assertions]\nerror_rate_max = { max = 0.5, abort = true }' >t.toml
try load run t.toml --seed 1 --no-log
status 1 "abort with data"
has out "aborted" "ends the run"

# ---- No request at all ------------------------------------------------------------------------------------------------
scenario '' '' | sed 's/^vus = 4/vus = 4\nspawn_jitter_ms = 3600000/' >t.toml
try load run t.toml --seed 1 --json --no-log
status 1 "no user began before the end"
has err "no request was sent" "no request"
check "no share of nothing" [ "$(value out success_rate)" = null ]
scenario '' '' | sed 's/^latency_ms.*/latency_ms = 4000/; s/^vus = 4/vus = 4\nwarm_up_seconds = 2/' >t.toml
try load run t.toml --seed 1 --no-log
status 1 "everything was sent during the warm-up"
has err "no request was sent after the warm-up (4 during it)" "and counts for nothing"
scenario '' '' | sed 's/^latency_ms.*/latency_ms = 4000/' >t.toml
try load run t.toml --seed 1 -o t.log
status 1 "no answer before the end"
has err "no response: 4 requests sent: 4 cancelled at the end" "all were cancelled"

# ---- Some errors are no failure ---------------------------------------------------------------------------------------
scenario 'refuse_rate = 0.9\nreset_rate = 0.5' '' >some.toml
try load run some.toml --seed 1 -o some.log
status 0 "some errors"
silent "some errors"
has out "ConnectionRefused" "are told"
try load analyze some.log --json
check "no_data is null" [ "$(value out no_data)" = null ]
check "there is a p99" [ "$(value out p99_ns)" -gt 0 ]
# A name that was never asked for, beside one that was.
scenario '' '[[requests]]\nname = "never"\npath = "/never"\nweight = 0' >t.toml
try load run t.toml --seed 1 -o t.log
status 0 "a name without requests"
check "is not 0 ms" grep -qE '^  never +0 +0 +0 +no data +no data$' out
try load analyze t.log --json
sed -n '/"never": {/,/}/p' out >never
has never '"p99_ns": null' "nor in JSON"
try load report t.log -o page.html
check "nor on the page" grep -q '<td>never</td>.*<td>no data</td><td>no data</td><td>no data</td>' page.html
# A filter that nothing passes is an answer, not a failure.
try load analyze some.log --filter 'status == 418' --json
status 0 "a filter that nothing passes"
check "has no data" [ "$(value out p99_ns)" = null ]
try load analyze some.log --filter 'status == 418' --percentiles 99 --json
is out '{"p99":{"service_ns":null,"response_ns":null}}' "nor a percentile"

# ---- Interrupted ------------------------------------------------------------------------------------------------------
"$RADDLE" load "$url" -c 2 -d 3600 --live >out 2>err </dev/null &
pid=$!
soon grep -q VUs err
kill -s INT $pid
wait $pid
status=$?
status 130 "interrupted without any response"
check "the panel shows no time" grep -q 'p50 - ' err

# ---- Compared ---------------------------------------------------------------------------------------------------------
for order in "some.log dead.log" "dead.log some.log" "dead.log dead.log"; do
    # shellcheck disable=SC2086
    try load diff $order
    check "diff $order: no time is better, or worse" [ "$(grep -E 'latency|time' out | grep -cE 'better|worse')" = 0 ]
    check "diff $order: nothing is 0 ms" [ "$(grep -cE ' 0\.000 ' out)" = 0 ]
    # shellcheck disable=SC2086
    try load diff $order --json
    check "diff $order: nor in JSON" [ "$(grep 'p99_ns' out | grep -c '"delta": null, "delta_pct": null, "improved": null')" = 1 ]
done

finish
