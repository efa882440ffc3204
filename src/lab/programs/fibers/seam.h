/* seam.h — what rt calls instead of exec and os, when it is under test: SEAM(name) for rad_name, SEAM_OF(name) for
 * rad__name.
 *
 * tools/seam.sh renames these symbols in the objects of rt, and nothing else; seam.txt lists them. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_SEAM_H
#define RAD_LAB_PROGRAMS_FIBERS_SEAM_H

#include "lab/programs/fibers/stage.h"

#define SEAM(name)    rad__seam_##name
#define SEAM_OF(name) rad__seam__##name

#endif
