/* folder_support.h — a folder of its own for a test that writes files. */
#ifndef TESTS_FOLDER_SUPPORT_H
#define TESTS_FOLDER_SUPPORT_H

#include <stdint.h>

/* No faults, the folder exists, the file does not. */
void folder_fresh(const char *folder, const char *path);
uint32_t folder_count(const char *folder); /* files in it */

#endif
