/* date.c — dates and times of TOML, which are those of RFC 3339, in full or in part. */
#include "base/text.h"
#include "base/toml/parts.h"

/* That many digits, for a value from least to most; `what` is all of this in words. */
static bool read_field(rad_toml_cursor *c, uint32_t digits, uint32_t least, uint32_t most, const char *what,
                       uint32_t *value)
{
    size_t from = c->at;
    *value = 0;
    for (uint32_t i = 0; i < digits; i++, c->at++) {
        if (!rad__is_digit(rad__toml_peek(c))) {
            c->at = from;
            return rad__toml_unlike(c, what);
        }
        *value = *value * 10 + (uint32_t)(rad__toml_peek(c) - '0');
    }
    if (*value >= least && *value <= most) return true;
    c->at = from;
    return rad__toml_unlike(c, what);
}

static bool pass(rad_toml_cursor *c, char sign, const char *what)
{
    if (rad__toml_peek(c) != sign) return rad__toml_unlike(c, what);
    c->at++;
    return true;
}

static uint32_t days_of(uint32_t year, uint32_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool read_date(rad_toml_cursor *c, rad_toml_date *date)
{
    static const char *const words[4] = {"a day from 01 to 28", "a day from 01 to 29", "a day from 01 to 30",
                                         "a day from 01 to 31"};
    uint32_t year, month, day;
    if (!read_field(c, 4, 0, 9999, "a year of four digits", &year) || !pass(c, '-', "'-' after the year") ||
        !read_field(c, 2, 1, 12, "a month from 01 to 12", &month) || !pass(c, '-', "'-' after the month"))
        return false;
    uint32_t days = days_of(year, month);
    if (!read_field(c, 2, 1, days, words[days - 28], &day)) return false;
    date->year = (uint16_t)year;
    date->month = (uint8_t)month;
    date->day = (uint8_t)day;
    return true;
}

/* Behind the point: nine digits count. */
static bool read_fraction(rad_toml_cursor *c, rad_toml_date *date)
{
    uint32_t scale = 100000000;
    if (!rad__is_digit(rad__toml_peek(c))) return rad__toml_unlike(c, "a digit of the fraction of a second");
    for (; rad__is_digit(rad__toml_peek(c)); c->at++, scale /= 10)
        date->nanosecond += scale * (uint32_t)(rad__toml_peek(c) - '0');
    return true;
}

static bool read_time(rad_toml_cursor *c, rad_toml_date *date)
{
    uint32_t hour, minute, second;
    if (!read_field(c, 2, 0, 23, "an hour from 00 to 23", &hour) || !pass(c, ':', "':' after the hour") ||
        !read_field(c, 2, 0, 59, "a minute from 00 to 59", &minute) ||
        !pass(c, ':', "':' and seconds after the minute") ||
        !read_field(c, 2, 0, 60, "a second from 00 to 60", &second))
        return false;
    date->hour = (uint8_t)hour;
    date->minute = (uint8_t)minute;
    date->second = (uint8_t)second;
    if (rad__toml_peek(c) != '.') return true;
    c->at++;
    return read_fraction(c, date);
}

/* Z, or the distance from UTC. */
static bool read_offset(rad_toml_cursor *c, rad_toml_date *date)
{
    uint32_t hours, minutes;
    if (rad__toml_peek(c) == 'Z' || rad__toml_peek(c) == 'z') {
        c->at++;
        return true;
    }
    bool west = rad__toml_peek(c) == '-';
    c->at++;
    if (!read_field(c, 2, 0, 23, "an offset of 00 to 23 hours", &hours) ||
        !pass(c, ':', "':' after the hours of the offset") ||
        !read_field(c, 2, 0, 59, "an offset of 00 to 59 minutes", &minutes))
        return false;
    int offset = (int)(hours * 60 + minutes);
    date->offset_minutes = (int16_t)(west ? -offset : offset);
    return true;
}

static bool begins_offset(char c)
{
    return c == 'Z' || c == 'z' || c == '+' || c == '-';
}

static bool read_all(rad_toml_cursor *c, rad_toml_node *node)
{
    rad_toml_date *date = &node->date;
    if (c->text[2] == ':') {
        node->type = RAD_TOML_LOCAL_TIME;
        return read_time(c, date);
    }
    node->type = RAD_TOML_LOCAL_DATE;
    if (!read_date(c, date)) return false;
    if (rad__toml_peek(c) != 'T' && rad__toml_peek(c) != 't' && rad__toml_peek(c) != ' ') return true;
    c->at++;
    node->type = RAD_TOML_LOCAL_DATE_TIME;
    if (!read_time(c, date)) return false;
    if (!begins_offset(rad__toml_peek(c))) return true;
    node->type = RAD_TOML_OFFSET_DATE_TIME;
    return read_offset(c, date);
}

bool rad__toml_scan_date(rad_toml_scan *s, size_t length, rad_toml_node *node)
{
    rad_toml_cursor c = {s, s->at, length, 0};
    node->date = (rad_toml_date){0};
    if (!read_all(&c, node)) return false;
    if (c.at < length) return rad__toml_unlike(&c, "the end of the date or time");
    s->at += length;
    return true;
}
