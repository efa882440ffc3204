/* load_quick.c — `raddle load URL`: a run without a file. The options become a scenario, which is what the log has. */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SCENARIO_ROOM = 1 << 20 };

typedef struct quick_words {
    load_words run;
    uint64_t connections, rate, streams, timeout_ms;
    double seconds;
    const char *method, *body;
    text_list headers;
    bool http2, insecure, round_robin, connect_late;
} quick_words;

#define AT(field) offsetof(quick_words, field)
static const option QUICK_OPTIONS[] = {
    {"connections", OPTION_COUNT, AT(connections), "N", "virtual users, each with a connection (default: 10)", 1,
     100000, 'c'},
    {"duration", OPTION_SECONDS, AT(seconds), "S", "stop after S seconds (default: 10)", 0, 0, 'd'},
    {"rate", OPTION_COUNT, AT(rate), "R",
     "start R requests a second, however many are in flight (default: each virtual user sends its "
     "next at once)",
     1, 1000000, 'R'},
    {"round-robin", OPTION_FLAG, AT(round_robin), NULL,
     "with -R: idle virtual users take requests in turn (default: the one that was busy last, so "
     "that few connections are used)",
     0, 0, 0},
    {"connect-late", OPTION_FLAG, AT(connect_late), NULL,
     "with -R: open a connection when it is needed (default: open all before the first request)", 0, 0, 0},
    {"method", OPTION_TEXT, AT(method), "M", "HTTP method (default: GET)", 0, 0, 'm'},
    {"header", OPTION_TEXTS, AT(headers), "'N: V'", "add a header; once for each", 0, 0, 'H'},
    {"body", OPTION_TEXT, AT(body), "TEXT", "body of the request (default: none)", 0, 0, 'b'},
    {"timeout-ms", OPTION_COUNT, AT(timeout_ms), "MS", "fail a request after MS milliseconds (default: 30000)", 1,
     3600000, 0},
    {"http2", OPTION_FLAG, AT(http2), NULL, "use HTTP/2 instead of HTTP/1.1", 0, 0, '2'},
    {"streams", OPTION_COUNT, AT(streams), "N", "HTTP/2: requests in flight on a connection (default: 1)", 1, 1000, 0},
    {"insecure", OPTION_FLAG, AT(insecure), NULL, "accept any certificate", 0, 0, 'k'},
    {"seed", OPTION_COUNT, AT(run.seed), "S", "seed (default: Raddle picks one and prints it)", 1, SEED_MAX, 0},
    {"output", OPTION_TEXT, AT(run.output), "PATH",
     "keep results: a directory, or FILE.log for the log alone (default: keep nothing)", 0, 0, 'o'},
    {"engine", OPTION_TEXT, AT(run.engine), "E", "epoll or uring (default: epoll)", 0, 0, 0},
    {"shards", OPTION_COUNT, AT(run.shards), "N", "run N schedulers on threads (default: 1)", 1, 256, 0},
    {"live", OPTION_FLAG, AT(run.live), NULL, "show a panel while it runs, even if stderr is not a terminal", 0, 0, 0},
    {"json", OPTION_FLAG, AT(run.json), NULL, "print one JSON object instead of text", 0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

/* A TOML string; whatever has no place in one is escaped. Placeholders mean nothing on a command line: in a template
 * they are escaped, too. */
static void put_quoted(FILE *to, const char *text, size_t length, bool template)
{
    fputc('"', to);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (template && byte == '$' && i + 1 < length && text[i + 1] == '{') fputc('$', to);
        if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(to, "\\u%04X", byte);
        else
            fputc(byte, to);
    }
    fputc('"', to);
}

static void put_string(FILE *to, const char *text, size_t length)
{
    put_quoted(to, text, length, false);
}

static void put_template(FILE *to, const char *text, size_t length)
{
    put_quoted(to, text, length, true);
}

/* "http://host?x=1" is "http://host/?x=1". */
static void put_path(FILE *to, const char *path)
{
    static char with_slash[SCENARIO_ROOM];
    snprintf(with_slash, sizeof with_slash, "%s%s", *path == '/' ? "" : "/", path);
    put_template(to, with_slash, strlen(with_slash));
}

static void put_headers(FILE *to, const text_list *headers)
{
    for (uint32_t i = 0; i < headers->count; i++) {
        const char *header = headers->items[i];
        size_t name = strcspn(header, ":");
        const char *value = header + name + 1;
        fprintf(to, i == 0 ? "headers = { " : ", ");
        put_string(to, header, name);
        fprintf(to, " = ");
        put_template(to, value + strspn(value, " "), strlen(value + strspn(value, " ")));
    }
    if (headers->count > 0) fprintf(to, " }\n");
}

static void put_scenario(FILE *to, const quick_words *q, const char *url)
{
    const char *host = strstr(url, "://") + 3, *path = host + strcspn(host, "/?#");
    size_t base = (size_t)(path - url);
    uint64_t users = q->connections * (q->http2 ? q->streams : 1);
    fprintf(to, "[metadata]\nname = ");
    put_string(to, url, strlen(url));
    fprintf(to, "\nversion = \"1\"\n[runtime]\nduration_seconds = %.9f\nvus = %llu\n", q->seconds,
            (unsigned long long)users);
    fprintf(to, "[target]\nbase_url = ");
    put_string(to, url, base);
    fprintf(to, "\nmax_connections = %llu\n", (unsigned long long)q->connections);
    if (q->http2) fprintf(to, "http_version = \"http2\"\nstreams = %llu\n", (unsigned long long)q->streams);
    if (q->insecure && strncmp(url, "https:", 6) == 0) fprintf(to, "verify_cert = false\n");
    fprintf(to, "[[requests]]\nname = \"request\"\nmethod = ");
    put_string(to, q->method, strlen(q->method));
    fprintf(to, "\npath = ");
    put_path(to, path);
    fprintf(to, "\ntimeout_ms = %llu\n", (unsigned long long)q->timeout_ms);
    put_headers(to, &q->headers);
    if (q->body != NULL) {
        fprintf(to, "body = ");
        put_template(to, q->body, strlen(q->body));
        fprintf(to, "\n");
    }
    if (q->rate != 0)
        fprintf(to, "[schedule]\ntype = \"arrival_rate\"\nrate = %llu\n%s%s", (unsigned long long)q->rate,
                q->round_robin ? "deal = \"in_turn\"\n" : "", q->connect_late ? "connect = \"when_needed\"\n" : "");
    else
        fprintf(to, "[schedule]\ntype = \"constant\"\nvus = %llu\n", (unsigned long long)users);
}

/* The scenario was made here: its lines mean nothing to the one who typed a URL. */
static void place_in_words(rad_error *error)
{
    static const char key[] = "base_url: ";
    char *at = strstr(error->text, key), text[sizeof error->text];
    if (at == NULL) return;
    snprintf(text, sizeof text, "URL: %s", at + sizeof key - 1);
    memcpy(error->text, text, sizeof text);
}

static int check_headers(cli *c, const text_list *headers)
{
    for (uint32_t i = 0; i < headers->count; i++) {
        const char *header = headers->items[i], *colon = strchr(header, ':');
        if (colon == NULL || colon == header) return bad_usage(c, "--header '%.80s': use 'Name: value'", header);
        size_t name = (size_t)(colon - header) + 1;
        for (uint32_t j = 0; j < i; j++)
            if (strncasecmp(headers->items[j], header, name) == 0)
                return bad_usage(c, "--header '%.80s': a header of that name is given already", header);
    }
    return 0;
}

int load_quick(cli *c, int argc, char **argv)
{
    quick_words q = {.connections = 10, .seconds = 10, .timeout_ms = 30000, .method = "GET"};
    q.run.shards = 1;
    q.run.is_url = true;
    q.run.scenario_path = "command line";
    words w;
    static char text[SCENARIO_ROOM];
    rad_load_scenario *s;
    rad_error error = {.code = 0};
    q.run.command_line = command_line(argc, argv);
    int status = options_parse(c, &VERB_LOAD_QUICK, argc, argv, &q, &w);
    if (status != GO_ON) return status;
    if (w.count != 1 || strstr(w.at[0], "://") == NULL)
        return bad_usage(c, "missing URL, or more than one; usage: raddle load http://HOST/ [options]");
    if ((status = check_headers(c, &q.headers)) != 0) return status;
    if (q.rate == 0 && (q.round_robin || q.connect_late))
        return bad_usage(c, "--%s needs --rate", q.round_robin ? "round-robin" : "connect-late");
    if (q.streams != 0 && !q.http2) return bad_usage(c, "--streams needs --http2");
    q.streams = q.streams != 0 ? q.streams : 1;
    q.run.no_log = q.run.output == NULL;
    FILE *to = fmemopen(text, sizeof text, "w");
    if (to == NULL) return EXIT_RUNTIME;
    put_scenario(to, &q, w.at[0]);
    if (fclose(to) != 0 || strlen(text) + 1 >= sizeof text) return bad_usage(c, "the command line is too long");
    int code = rad_load_parse(&s, "command line", text, strlen(text), &error);
    if (code != 0) place_in_words(&error);
    return code != 0 ? complain_error(c, &error) : run_scenario(c, s, &q.run);
}

static const char *const QUICK_EXAMPLES[] = {
    "raddle load http://127.0.0.1:8080/ -c 64 -d 10",
    "64 virtual users for ten seconds",
    "raddle load http://127.0.0.1:8080/ -c 100 -d 10 -R 2000",
    "2,000 requests a second, and how long each really waited",
    NULL,
};

const verb VERB_LOAD_QUICK = {
    .name = "load URL",
    .about = "send requests to one URL, without a scenario file",
    .usage = "[options]",
    .text = "Send requests to one URL for a while, and print what came back.\n\n"
            "Without -R each virtual user sends its next request when it has its response (closed "
            "model). With -R requests start at a constant rate, however many are in flight (open "
            "model).",
    .status = "0 done, 1 no response at all, " STATUS_ERRORS ", 130 interrupted",
    .options = QUICK_OPTIONS,
    .examples = QUICK_EXAMPLES,
    .run = load_quick,
};
