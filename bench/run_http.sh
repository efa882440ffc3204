#!/bin/bash
# run_http.sh BUILD_DIR [SECONDS [CONNECTIONS [ROUNDS]]] — examples/http.c beside its twin in Go, under wrk with one thread:
# requests per second, errors, and the largest resident set while under load. In turns, so that both meet the same
# machine. Needs Debian's wrk and golang-go; what is missing is named and skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "${1:?usage: run_http.sh BUILD_DIR [SECONDS [CONNECTIONS [ROUNDS]]]}" && pwd) || exit 2
seconds=${2:-10} connections=${3:-1000} rounds=${4:-3} port=18080
workers=${WORKERS:-$(nproc)}
command -v wrk >/dev/null || { echo "run_http.sh: wrk is missing (apt-get install wrk)" >&2; exit 2; }
ulimit -n "$(ulimit -Hn)"
programs=("raddle $build/examples/http")
if command -v go >/dev/null; then
    mkdir -p "$build/peers"
    (cd bench/peers/http && GOPROXY=off GOTOOLCHAIN=local GOCACHE=$build/peers/go-cache GOPATH=$build/peers/go-path \
        CGO_ENABLED=0 go build -buildvcs=false -o "$build/peers/http" .) &&
        programs+=("go $build/peers/http")
else
    echo "run_http.sh: go is missing, it is skipped" >&2
fi

measure() { # NAME PROGRAM
    port=$((port + 1))
    "$2" "$port" "$workers" 2>/dev/null &
    local server=$! out rss
    sleep 0.5
    wrk -t1 -c"$connections" -d1s "http://127.0.0.1:$port/" >/dev/null # warm
    out=$(wrk -t1 -c"$connections" -d"${seconds}s" --latency "http://127.0.0.1:$port/")
    rss=$(awk '/VmHWM/ { print $2 }' "/proc/$server/status")
    kill -TERM "$server"
    wait "$server"
    local status=$?
    awk -v name="$1" -v rss="$rss" -v status="$status" '
        /Requests\/sec/ { rate = $2 }
        /50%/ { p50 = $2 }
        /99%/ { p99 = $2 }
        /Socket errors/ { errors = $4 + $6 + $8 + $10 }
        /Non-2xx/ { errors += $NF }
        END { printf "%-8s %10.0f requests/s   p50 %9s   p99 %9s   %5d errors   %7.1f MiB   exit %d\n", name, rate, p50, p99,
              errors, rss / 1024, status }' <<<"$out"
}

for ((round = 0; round < rounds; round++)); do
    for program in "${programs[@]}"; do
        measure ${program}
    done
done
