#!/bin/bash
# run_load.sh BUILD_DIR [SECONDS [ROUNDS]] — what a request costs the generator: raddle load (epoll and io_uring, with its
# log) beside wrk and h2load, on one nginx: 64 and 1,000 connections, HTTP/1.1 and HTTP/2, plain and TLS. Generators take
# turns, ROUNDS times (default: 5); nginx has one core, the generator another. Every log of ours is replayed.
#
# RADDLE_ONLY="h2-1 64" (or h2-1): this row only.
#
# Prints a table: CPU seconds per 100,000 requests (user and system, all threads), median, least and most, and the ratio
# of the medians to the peer's.
set -eu
build=$(cd "${1:?usage: run_load.sh BUILD_DIR [SECONDS [ROUNDS]]}" && pwd)
seconds=${2:-5} rounds=${3:-5} port=${RADDLE_PORT:-28080}
work=$(mktemp -d)
chmod 755 "$work"
trap 'kill "$(cat "$work/nginx.pid" 2>/dev/null)" 2>/dev/null; sleep 0.2; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
ulimit -n 8192
TIMEFORMAT='%U %S'

# ---- The server -----------------------------------------------------------------------------------------------------
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 -subj /CN=localhost \
    2>/dev/null
mkdir "$work/www"
printf 'Hello, world\n' >"$work/www/index.html"
cat >"$work/nginx.conf" <<X
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  sendfile off;
  client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
  ssl_certificate $work/cert.pem; ssl_certificate_key $work/key.pem;
  http2_max_concurrent_streams 256;
  server { listen 127.0.0.1:$port backlog=4096; root $work/www; }
  server { listen 127.0.0.1:$((port + 1)) http2 backlog=4096; root $work/www; }
  server { listen 127.0.0.1:$((port + 2)) ssl backlog=4096; root $work/www; }
  server { listen 127.0.0.1:$((port + 3)) ssl http2 backlog=4096; root $work/www; }
}
X
taskset -c 0 nginx -c "$work/nginx.conf" -e "$work/error.log" 2>"$work/start" || { cat "$work/start" >&2; exit 3; }
sleep 0.5

# ---- The generators: each prints how many requests were answered ------------------------------------------------------
url() { # KIND
    case $1 in
    h1) echo "http://127.0.0.1:$port/" ;;
    h2*) echo "http://127.0.0.1:$((port + 1))/" ;;
    tls) echo "https://127.0.0.1:$((port + 2))/" ;;
    tlsh2*) echo "https://127.0.0.1:$((port + 3))/" ;;
    esac
}

run_wrk() { # KIND CONNECTIONS
    wrk -t1 -c"$2" -d"${seconds}s" "$(url "$1")" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p'
}

run_h2load() { # KIND CONNECTIONS: a duration is counted after a second of warming up, so requests are: as many as fit
    streams=${1##*-}
    h2load -t1 -c"$2" -m"$streams" -n "$((seconds * 30000))" "$(url "$1")" | sed -n 's/^requests:.* \([0-9]*\) succeeded.*/\1/p'
}

run_raddle() { # KIND CONNECTIONS ENGINE
    streams=1 more=
    case $1 in
    *h2-*) streams=${1##*-} more="--http2 --streams $streams" ;;
    esac
    # shellcheck disable=SC2086 # words
    "$build/raddle" load "$(url "$1")" -c "$2" -d "$seconds" -k $more --engine "$3" --seed 1 --output "$work/run.log" \
        --json >"$work/json" || true
    sed -n 's/.*"total": *\([0-9]*\).*/\1/p' "$work/json" | head -1
}

one() { # NAME KIND CONNECTIONS: appends "seconds per 100,000" to its file
    case $1 in
    wrk) set -- "$1" "$2" "$3" run_wrk ;;
    h2load) set -- "$1" "$2" "$3" run_h2load ;;
    epoll | uring) set -- "$1" "$2" "$3" run_raddle ;;
    esac
    { time taskset -c 1 bash -c "$(declare -f url run_wrk run_h2load run_raddle)
        port=$port seconds=$seconds build=$build work=$work; ulimit -n 8192
        $4 $2 $3 $1" >"$work/answered"; } 2>"$work/cpu"
    [ -s "$work/answered" ] || { cat "$work/cpu" >&2; exit 3; }
    answered=$(cat "$work/answered")
    tail -1 "$work/cpu" | awk -v n="${answered:-0}" 'n > 0 { printf "%.4f\n", ($1 + $2) * 100000 / n }' >>"$work/$2-$3-$1"
    if [ "$4" = run_raddle ]; then
        "$build/raddle" load replay "$work/run.log" >"$work/replay" || { cat "$work/replay"; exit 1; }
        echo "$2 $3 $1: $(cut -d: -f2 <"$work/replay")" >>"$work/replays"
    fi
    [ ! -t 2 ] || printf '\r\033[K%s %s %s: %s' "$2" "$3" "$1" "$(tail -1 "$work/$2-$3-$1")" >&2
}

middle() { # FILE: median least most
    sort -n "$1" | awk '{ a[NR] = $1 } END { printf "%.3f %.3f %.3f\n", a[int((NR + 1) / 2)], a[1], a[NR] }'
}

echo "CPU seconds per 100,000 requests; $rounds rounds of $seconds s; nginx $(nginx -v 2>&1 | cut -d/ -f2), $(uname -r)"
printf '%-10s %6s  %-8s %8s %8s %8s %8s\n' server conns generator median least most ratio
for what in "h1 64 wrk" "h1 1000 wrk" "tls 64 wrk" "tls 1000 wrk" "h2-1 64 h2load" "h2-32 64 h2load" "h2-1 1000 h2load" \
    "tlsh2-1 64 h2load" "tlsh2-32 64 h2load"; do
    # shellcheck disable=SC2086 # words
    set -- $what
    case "${RADDLE_ONLY:-$1 $2}" in "$1 $2" | "$1") ;; *) continue ;; esac
    if ! command -v "$3" >/dev/null; then
        echo "$1: $3 is not installed" >&2
        continue
    fi
    for _ in $(seq "$rounds"); do
        for name in "$3" epoll uring; do one "$name" "$1" "$2"; done
    done
    peer=$(middle "$work/$1-$2-$3" | cut -d' ' -f1)
    for name in "$3" epoll uring; do
        # shellcheck disable=SC2046 # words
        printf '%-10s %6s  %-8s %8s %8s %8s %8s\n' "$1" "$2" "$name" $(middle "$work/$1-$2-$name") \
            "$(middle "$work/$1-$2-$name" | awk -v p="$peer" '{ printf "%.2f", $1 / p }')"
    done
done
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "$(wc -l <"$work/replays") runs of raddle replayed byte for byte"
