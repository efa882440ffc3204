#!/bin/bash
# setup.sh [build|format|ci|wasm|nightly|peer_PEER]... — installs the Debian packages these parts need and which are
# missing. As root or through sudo; without the rights it prints the one command to run, and exits 2.
set -euo pipefail

# "a|b": either will do. Each list holds only what the part itself adds.
packages_build="gcc libc6-dev make meson ninja-build pkg-config|pkgconf
    libcmocka-dev libjansson-dev libxxhash-dev libzstd-dev libdw1
    libssl-dev libnghttp2-dev liburing-dev node-llhttp"
packages_format="clang-format"
packages_ci="clang g++ libc++-dev libc++abi-dev clang-format libclang-rt-14-dev|libclang-rt-dev"
packages_wasm="clang lld wasi-libc libclang-rt-14-dev-wasm32|libclang-rt-dev-wasm32 nodejs chromium"
packages_nightly="valgrind libc6-dbg gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    libjansson-dev:arm64 libzstd-dev:arm64 libcmocka0:arm64"
packages_peer_servers="nginx-light openssl" # what load is tried on, and who else can
packages_peer_generators="wrk nghttp2-client apache2-utils"
packages_peer_go="golang-go"
packages_peer_tokio="rustc cargo librust-tokio-dev"
packages_peer_tbb="g++ libtbb-dev"
packages_peer_boost="gcc g++ libboost-fiber-dev"
packages_peer_st="gcc libst-dev"
packages_peer_pthreads="gcc libc6-dev"
packages_peer_relacy="gcc g++ relacy-dev"

wanted=
for part in "${@:-build}"; do
    list=packages_$part
    if [ -z "${!list:-}" ]; then
        echo "setup.sh: no part '$part' (build, format, ci, wasm, nightly, peer_go, peer_tokio, peer_tbb," \
            "peer_boost, peer_st, peer_pthreads, peer_relacy, peer_servers, peer_generators)" >&2
        exit 2
    fi
    wanted="$wanted ${!list}"
done

# Not a Debian: look for the programs, and leave the rest to meson's own messages.
if ! command -v dpkg-query >/dev/null; then
    for program in cc meson ninja pkg-config; do
        if ! command -v "$program" >/dev/null; then
            echo "setup.sh: $program is missing. On Debian the packages are:" $wanted >&2
            exit 2
        fi
    done
    exit 0
fi

# shellcheck disable=SC2086
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n${db:Status-Status} ${Package}:${Architecture}\n' \
    ${wanted//|/ } 2>/dev/null |
    sed -n 's/^installed //p') || true # it fails when one is unknown
missing=
for choice in $wanted; do
    found=
    for package in ${choice//|/ }; do
        case $'\n'"$installed"$'\n' in *$'\n'"$package"$'\n'*) found=yes ;; esac
    done
    [ -n "$found" ] || missing="$missing ${choice##*|}"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
foreign= # packages of another architecture: apt has to know of it
case $missing in *:arm64*) dpkg --print-foreign-architectures | grep -q '^arm64$' || foreign="dpkg --add-architecture arm64" ;; esac
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=sudo
else
    echo "Some packages are missing and installing them takes root. Run this, then try again:" >&2
    echo "    sudo sh -c '${foreign:+$foreign && }apt-get update && $install'" >&2
    exit 2
fi
echo "Installing:$missing" >&2
[ -z "$foreign" ] || $as_root $foreign
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120"
$apt update >&2 || echo "setup.sh: apt-get update failed; trying with the lists at hand" >&2
# shellcheck disable=SC2086
if ! said=$($apt install -y --no-install-recommends $missing 2>&1); then
    printf '%s\n' "$said" >&2
    echo "setup.sh: this command failed: $install" >&2
    exit 2
fi
