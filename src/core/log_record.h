/* log_record.h — how a record of a log begins; see log.h.
 *
 * The first byte of a record: its type in the low two bits, six bits more by type.
 *     DECISION  removed count (3 bits), added count (3 bits); 7 means that the count follows
 *     PICK      kind
 *     DEFINE    0
 *     OTHER     0 = CHANGES, 1 = END */
#ifndef RAD_CORE_LOG_RECORD_H
#define RAD_CORE_LOG_RECORD_H

enum { LOG_TYPE_DECISION = 0, LOG_TYPE_PICK = 1, LOG_TYPE_DEFINE = 2, LOG_TYPE_OTHER = 3 };
enum { LOG_OTHER_CHANGES = 0, LOG_OTHER_END = 1 };
enum { LOG_COUNT_FOLLOWS = 7 };

#endif
