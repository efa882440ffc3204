/* A guard has the whole path of its file. */
#ifndef RAD_LAB_PROGRAMS_GUARD_H
#define RAD_LAB_PROGRAMS_GUARD_H

#ifndef RAD_SOMETHING_ELSE
#define RAD_SOMETHING_ELSE 1
#endif

#endif
