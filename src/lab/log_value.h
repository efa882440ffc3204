/* log_value.h — a log in memory as a value (rad_log of raddle/lab.h): the bytes of a log file, and what is known of
 * them. */
#ifndef RAD_LAB_LOG_VALUE_H
#define RAD_LAB_LOG_VALUE_H

#include "lab/log_file.h"

/* Copies the bytes and checks every record. `name` is for messages. */
RAD_INTERNAL int rad__log_of_bytes(rad_log **log, const void *bytes, size_t size, const char *name, rad_error *error);

/* From its first record on; rad__log_close it. */
RAD_INTERNAL int rad__log_value_open(rad_log_in **in, const rad_log *log, rad_error *error);

#endif
