/* sync_support.h — what the tests of locks share: children that are expected to be stopped. */
#ifndef SYNC_SUPPORT_H
#define SYNC_SUPPORT_H

/* Calls body() in a child process, which has to end by SIGABRT, having begun its stderr with
 * "raddle: " and `message`. */
void expect_misuse(void (*body)(void), const char *message);

#endif
