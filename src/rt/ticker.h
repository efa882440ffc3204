/* ticker.h — for select: tickers as cases. */
#ifndef RAD_RT_TICKER_H
#define RAD_RT_TICKER_H

#include <raddle/fiber.h>

#include "base/check.h"

/* When the next tick is due. */
RAD_INTERNAL rad_time rad__ticker_next(const rad_ticker *t);

/* Receives the latest tick that is due; *tick (may be NULL) is its number. False: none is due. */
RAD_INTERNAL bool rad__ticker_take(rad_ticker *t, uint64_t *tick);

#endif
