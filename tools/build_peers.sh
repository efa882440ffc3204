#!/bin/bash
# build_peers.sh BUILD_DIR [PEER...] — installs the peers of the benchmarks (go, tokio, tbb, boost, st, pthreads,
# relacy; all of them when none is named) and builds their programs, bench/peers/*, as BUILD_DIR/peers/PEER.
#
# A peer that cannot be installed or built is named and skipped: the rest can still be compared. Only Debian's packages
# are used, and nothing is downloaded by go or cargo: Tokio comes from the crates that librust-tokio-dev puts on the disk.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$1/peers" || exit 1
build=$(cd "$1" && pwd) || exit 1
shift
out=$build/peers

build_go() {
    (
        cd bench/peers/go || exit 1
        export GOPROXY=off GOTOOLCHAIN=local GOCACHE=$out/go-cache GOPATH=$out/go-path CGO_ENABLED=0
        go build -buildvcs=false -o "$out/go.new" .
    )
}

# Rust as Debian packages it, even when another one comes first in PATH: the crates belong to that version.
build_tokio() {
    local crates=/usr/share/cargo/registry version
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$crates"/tokio-[0-9]*/Cargo.toml | head -n 1)
    rm -rf "$out/tokio-source"
    cp -rp bench/peers/tokio "$out/tokio-source" && mkdir "$out/tokio-source/.cargo" || return 1
    cat >"$out/tokio-source/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$crates"
END
    (
        cd "$out/tokio-source" || exit 1
        export PATH=/usr/bin:$PATH RUSTC=/usr/bin/rustc CARGO_HOME=$out/cargo CARGO_TARGET_DIR=$out/tokio-target
        TOKIO_VERSION="$version, rustc $(rustc --version | cut -d ' ' -f 2)"
        export TOKIO_VERSION
        /usr/bin/cargo build --release --offline --jobs 2
    ) && cp "$out/tokio-target/release/tokio" "$out/tokio.new"
}

build_tbb() {
    g++ -std=c++20 -O2 -Wall -Wextra -o "$out/tbb.new" bench/peers/tbb/main.cpp -ltbb -pthread
}

# The rest share bench/loads.c.
build_boost() {
    gcc -O2 -c -o "$out/bench.o" bench/bench.c && gcc -O2 -c -o "$out/loads.o" bench/loads.c &&
        g++ -std=c++17 -O2 -Wall -Wextra -o "$out/boost.new" bench/peers/boost/main.cpp "$out/bench.o" "$out/loads.o" \
            -lboost_fiber -lboost_context -pthread
}

build_st() {
    gcc -O2 -Wall -Wextra -o "$out/st.new" bench/peers/st/main.c bench/loads.c bench/bench.c -lst
}

build_pthreads() {
    gcc -O2 -Wall -Wextra -o "$out/pthreads.new" bench/peers/pthreads/main.c bench/loads.c bench/bench.c -pthread
}

# Its headers have warnings of their own.
build_relacy() {
    local version
    version=$(dpkg-query -W -f '${Version}' relacy-dev) &&
        gcc -O2 -c -o "$out/bench.o" bench/bench.c && gcc -O2 -c -o "$out/loads.o" bench/loads.c &&
        g++ -std=c++17 -O2 -DNDEBUG -w "-DRELACY_VERSION=\"$version\"" -o "$out/relacy.new" \
            bench/peers/relacy/main.cpp "$out/bench.o" "$out/loads.o"
}

skip() { # PEER REASON
    echo "$1: skipped, $2"
    rm -f "$out/$1"
    [ ! -s "$out/$1.log" ] || tail -n 5 "$out/$1.log" | sed 's/^/    /'
}

[ $# -gt 0 ] || set -- go tokio tbb boost st pthreads relacy
for peer in "$@"; do
    if ! declare -F "build_$peer" >/dev/null; then
        echo "build_peers.sh: no peer '$peer' (go, tokio, tbb, boost, st, pthreads, relacy)" >&2
        exit 2
    fi
    rm -f "$out/$peer.new"
    if ! tools/setup.sh "peer_$peer" >"$out/$peer.log" 2>&1; then
        skip "$peer" "not installed:"
    elif ! "build_$peer" >"$out/$peer.log" 2>&1; then
        skip "$peer" "does not build (more in ${out##*/}/$peer.log):"
    elif ! mv "$out/$peer.new" "$out/$peer" || ! version=$("$out/$peer" --version); then
        skip "$peer" "does not run"
    else
        echo "$peer: $version"
    fi
done
