/* escape.h — how values get into requests: so that they arrive as they are, and cannot break out of their place.
 *
 *     path, query   all but letters, digits and - . _ ~ is percent-encoded (url)
 *     header        a value with a control character (CR, LF, NUL, …) is refused
 *     form          url, but a space is +, ~ is encoded and * is not (form)
 *     JSON          in quotes: " \ and control characters are escaped (json); outside of quotes: as it is, but it has
 *                   to be a whole JSON value
 *     other bodies  as it is (raw)
 *
 * Whatever a template wants for one value instead, no request line and no header gets a byte that it cannot carry: in
 * a path it is percent-encoded, in a header it is refused. */
#ifndef RAD_LOAD_SCENARIO_ESCAPE_H
#define RAD_LOAD_SCENARIO_ESCAPE_H

#include "base/bytes.h"

enum rad__load_place {
    RAD__LOAD_IN_PATH, /* and in a query */
    RAD__LOAD_IN_HEADER,
    RAD__LOAD_IN_BODY, /* of which nothing is known */
    RAD__LOAD_IN_FORM,
    RAD__LOAD_IN_JSON
};

enum rad__load_escape {
    RAD__LOAD_ESCAPE_BY_PLACE, /* in placeholders only */
    RAD__LOAD_ESCAPE_RAW,
    RAD__LOAD_ESCAPE_URL,
    RAD__LOAD_ESCAPE_FORM,
    RAD__LOAD_ESCAPE_JSON,
    RAD__LOAD_ESCAPE_JSON_VALUE /* outside of quotes */
};

/* Appends a value. False: it cannot stand there. */
RAD_INTERNAL bool rad__load_put_escaped(rad_bytes *to, enum rad__load_place place, enum rad__load_escape escape,
                                        const void *data, size_t size);

/* What a request line and a header can carry as it is. */
RAD_INTERNAL bool rad__load_fits_path(uint8_t c);
RAD_INTERNAL bool rad__load_fits_header(uint8_t c);

#endif
