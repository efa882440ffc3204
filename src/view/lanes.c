#include "view/lanes.h"

#include "base/alloc.h"
#include "view/words.h"

enum {
    LANE_GAP = 3,     /* "● " before the words and a blank after them */
    COLUMN_MIN = 16,  /* narrower columns break every word */
    COLUMN_EASY = 24, /* short words get this much where there is room */
    COLUMN_MAX = 44,  /* wider ones carry the eye too far */
    GRAPH_STRIDE = 2, /* columns per narrow lane */
    GRAPH_WORDS = 28  /* lanes may leave this much for words, or less when all are shorter */
};

static uint32_t digits_of(uint64_t number)
{
    uint32_t count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void measure_lines(rad_lanes *l, const rad_story *s, bool all)
{
    uint64_t last_step = 0;
    for (uint64_t i = 0; i < s->line_count; i++) {
        const rad_line *line = &s->lines[i];
        last_step = line->step > last_step ? line->step : last_step;
        if (line->actor >= s->actor_count || (line->hidden && !all)) continue;
        rad_lane *lane = &l->lanes[line->actor];
        char words[RAD_WORDS_MAX];
        rad__line_words(line, s->actors[line->actor], words);
        uint32_t columns = rad__columns(words);
        lane->words = columns > lane->words ? columns : lane->words;
        if (line->at) {
            char place[RAD_PLACE_MAX];
            rad__place_text(line->at, place);
            columns += 2 + rad__columns(place);
        }
        lane->wanted = columns > lane->wanted ? columns : lane->wanted;
        lane->first = l->lane_of[line->actor] == RAD_NONE ? i : lane->first;
        lane->last = i;
        l->lane_of[line->actor] = 0; /* seen */
    }
    uint32_t digits = digits_of(last_step);
    l->margin = (digits < 4 ? 4 : digits) + 3;
}

/* From one entry per actor to one per actor that is shown; who waits at the end keeps its line. */
static void gather_lanes(rad_lanes *l, const rad_story *s)
{
    for (uint32_t actor = 0; actor < s->actor_count; actor++) {
        if (l->lane_of[actor] == RAD_NONE) continue;
        rad_lane lane = l->lanes[actor];
        lane.actor = actor;
        uint32_t name = rad__columns(s->actors[actor]);
        lane.words = name > lane.words + 2 ? name - 2 : lane.words;
        lane.wanted = lane.words > lane.wanted ? lane.words : lane.wanted;
        l->name_room = name > l->name_room ? name : l->name_room;
        l->lane_of[actor] = l->count;
        l->lanes[l->count++] = lane;
    }
    for (uint32_t w = 0; w < s->wait_count; w++) {
        uint32_t actor = s->waits[w].actor;
        if (actor < s->actor_count && l->lane_of[actor] != RAD_NONE) l->lanes[l->lane_of[actor]].last = s->line_count;
    }
}

static uint32_t column_of(const rad_lane *lane, uint32_t least, uint32_t limit)
{
    uint32_t column = smaller(lane->wanted + LANE_GAP, limit);
    return column < least ? least : column;
}

static bool columns_fit(const rad_lanes *l, uint32_t least, uint32_t limit, uint32_t width)
{
    uint64_t sum = l->margin;
    for (uint32_t i = 0; i < l->count; i++) sum += column_of(&l->lanes[i], least, limit);
    return sum <= width;
}

/* Words come before places: a column that is wide for its places only would cost others their words. */
static void leave_places_out(rad_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++) l->lanes[i].wanted = l->lanes[i].words;
}

/* The widest limit under which all columns fit; what is narrower than the limit stays as it is. */
static bool place_columns(rad_lanes *l, uint32_t width)
{
    uint32_t limit = COLUMN_MAX, least = COLUMN_EASY, x = l->margin;
    if (!columns_fit(l, 0, limit, width)) leave_places_out(l);
    while (limit >= COLUMN_MIN && !columns_fit(l, 0, limit, width)) limit--;
    if (limit < COLUMN_MIN) return false;
    while (!columns_fit(l, least, limit, width)) least--;
    for (uint32_t i = 0; i < l->count; i++) {
        rad_lane *lane = &l->lanes[i];
        uint32_t column = column_of(lane, least, limit);
        lane->x = x;
        lane->room = column - LANE_GAP;
        x += column;
    }
    return true;
}

static void place_narrow(rad_lanes *l, uint32_t width)
{
    uint64_t lanes = (uint64_t)l->count * GRAPH_STRIDE;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < l->count; i++) longest = l->lanes[i].wanted > longest ? l->lanes[i].wanted : longest;
    uint64_t needed = l->margin + lanes + 1 + l->name_room + 2 + smaller(longest, GRAPH_WORDS);
    l->form = needed <= width ? RAD_LANES_GRAPH : RAD_LANES_LIST;
    for (uint32_t i = 0; l->form == RAD_LANES_GRAPH && i < l->count; i++) l->lanes[i].x = l->margin + i * GRAPH_STRIDE;
    l->words_x = l->margin + (l->form == RAD_LANES_GRAPH ? (uint32_t)lanes + 1 : 0);
    l->name_room = smaller(l->name_room, (width - l->words_x) / 2);
    l->words_x += l->name_room + 2;
    l->words_room = l->words_x < width ? width - l->words_x : 1;
}

bool rad__lanes_open(rad_lanes *l, const rad_story *s, uint32_t width, bool all)
{
    *l = (rad_lanes){.form = RAD_LANES_COLUMNS};
    l->lanes = rad__alloc(s->actor_count, sizeof *l->lanes);
    l->lane_of = rad__alloc(s->actor_count, sizeof *l->lane_of);
    if (l->lanes == NULL || l->lane_of == NULL) return false;
    for (uint32_t i = 0; i < s->actor_count; i++) l->lane_of[i] = RAD_NONE;
    measure_lines(l, s, all);
    gather_lanes(l, s);
    if (!place_columns(l, width)) place_narrow(l, width);
    return true;
}

void rad__lanes_close(rad_lanes *l)
{
    rad__free(l->lanes);
    rad__free(l->lane_of);
    *l = (rad_lanes){.count = 0};
}
