/* tour_session.c — the tour's part on sessions: a protocol, its parts, and that it does not matter who schedules. */
#include "tour.h"

#include <raddle/session.h>

#include <string.h>

enum { SEEDS = 50, SESSIONS = 5 };

static const char PROTOCOL[] = "protocol TwoBuyer {\n"
                               "  roles Alice, Bob, Seller\n"
                               "  Alice -> Seller: title(text)\n"
                               "  Seller -> Alice: quote(int)\n"
                               "  Seller -> Bob: quote(int)\n"
                               "  Alice -> Bob: share(int)\n"
                               "  choice at Bob {\n"
                               "    Bob -> Seller: accept\n"
                               "    Bob -> Alice: accept\n"
                               "    Seller -> Bob: date(text)\n"
                               "  } or {\n"
                               "    Bob -> Seller: quit\n"
                               "    Bob -> Alice: quit\n"
                               "  }\n"
                               "}\n";

static const char FORGETFUL[] = "protocol TwoBuyer {\n"
                                "  roles Alice, Bob, Seller\n"
                                "  choice at Bob {\n"
                                "    Bob -> Seller: accept\n"
                                "    Seller -> Alice: date(text)\n"
                                "  } or {\n"
                                "    Bob -> Seller: quit\n"
                                "  }\n"
                                "}\n";

static int refuse(cli *c)
{
    rad_protocols *p;
    rad_error error = {.code = 0};
    out_text(c, "\n");
    out_paragraph(c, 3,
                  "A protocol in which somebody could not know what to do is refused. Here nobody "
                  "tells Alice when Bob does not want the book:");
    if (rad_protocols_parse(&p, "forgetful.session", FORGETFUL, strlen(FORGETFUL), &error) == 0) {
        rad_protocols_free(p);
        return tour_not_as_told(c, "a protocol that leaves Alice in the dark was taken");
    }
    out(c, "\n   %s\n", error.text);
    return 0;
}

static int compare(cli *c, const rad_protocols *p)
{
    rad_error error = {.code = 0};
    rad_invariance r;
    rad_invariance_options o = {
        .sessions = SESSIONS, .seeds = SEEDS, .seed = 1, .starts = 2, .interrupted = c->stop};
    out_text(c, "\n");
    out_paragraph(c, 3,
                  "Five sessions, run with 1, 2, 3, 7 and all coroutines a round, under three "
                  "policies, begun in "
                  "shuffled orders, with 50 seeds for what the roles choose. Each run is compared "
                  "with the plain "
                  "one, thread by thread, event by event, cause by cause:");
    if (rad_session_invariant(p, &o, &r, &error) != 0) {
        return complain_error(c, &error);
    }
    if (!r.holds || r.complete != r.runs) {
        return tour_not_as_told(c, "two runs of the protocol were not the same");
    }
    out(c, "\n   %s runs, %s events: no thread can tell any two of them apart\n", number(r.runs),
        number(r.events));
    return 0;
}

int tour_session(cli *c)
{
    rad_protocols *p;
    rad_error error = {.code = 0};
    tour_part(c, 9, "Sessions: protocols that cannot go wrong",
              "session invariant two_buyer.session");
    out_paragraph(c, 3, "A protocol says who sends what to whom, once, for all roles:");
    out_text(c, "\n");
    out_text(c, PROTOCOL);
    out_text(c, "\n");
    out_paragraph(
        c, 3,
        "Each role gets its part of it, and a monitor that lets nothing else happen. Seller's:");
    if (rad_protocols_parse(&p, "two_buyer.session", PROTOCOL, strlen(PROTOCOL), &error) != 0) {
        return complain_error(c, &error);
    }
    char *part = rad_protocol_type_text(p, 0, 2);
    out(c, "\n%s", part ? part : "");
    rad_free(part);
    int status = compare(c, p);
    rad_protocols_free(p);
    return status ? status : refuse(c);
}
