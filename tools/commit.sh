#!/bin/sh
# commit.sh — the commit this tree was checked out from, or "unknown" (an archive, no git, no commit).
cd "$(dirname "$0")/.." || exit 1
[ -e .git ] && git rev-parse -q --verify --short=12 HEAD 2>/dev/null || echo unknown
