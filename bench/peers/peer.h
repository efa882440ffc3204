/* peer.h — a peer that is written in C: the call of README.md, from the workloads of bench/loads.h. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "../loads.h"

#include <string.h>

/* As main: `version` is the answer to --version. */
static inline int peer_main(const bench_loads *all, const char *version, int argc, char **argv)
{
    char one[] = "--one";
    char *words[6] = {argv[0], one};
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(version);
        return 0;
    }
    if (argc > 4) return 2;
    for (int i = 1; i < argc; i++) words[i + 1] = argv[i];
    return bench_loads_main(all, argc + 1, words);
}

#endif
