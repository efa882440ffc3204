/* program.h — the program that has the machines that were added: recorded with each run, compared in a replay. */
#ifndef RAD_LAB_PROGRAM_H
#define RAD_LAB_PROGRAM_H

#include "base/elf.h"

#include <raddle/lab.h>

/* This process has machines of its own, in the file that holds `machine` in memory; `path` is what the user typed for
 * it. The build id is looked up when it is first needed. */
RAD_INTERNAL void rad__program_set(const char *path, const rad_machine *machine);

/* The same of a program that is another file, with the lab's library, and `machine` for what it does (under_test.h). */
RAD_INTERNAL void rad__program_set_file(const char *path, const char *library, const rad_machine *machine);

/* For what is recorded about a run: the program, if there is one and the machine is its own. */
RAD_INTERNAL void rad__program_of_machine(const rad_machine *m, rad_lab_program *out);

/* Of the file's own note, or made from all of its bytes. */
RAD_INTERNAL void rad__program_build_id(const rad_elf *e, char *text, size_t size);

#endif
