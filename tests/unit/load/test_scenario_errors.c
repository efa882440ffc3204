/* test_scenario_errors.c — scenarios that are refused: where, and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_support.h"

#include "load/scenario/read.h"

#include <stdio.h>
#include <string.h>

struct refusal {
    const char *text, *place, *words;
};

#define REFUSED(list)                                                                                                  \
    do {                                                                                                               \
        for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)                                                     \
            scenario_refused((list)[i].text, (list)[i].place, (list)[i].words);                                        \
    } while (0)

static int forget(void **state)
{
    (void)state;
    scenario_files_clear();
    return 0;
}

static void files_that_are_none(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {"", "1:1", "expected a key 'vus' in [runtime]"},
        {"x", "1:2", "expected"},
        {"[runtime\n", "1:9", "expected"},
        {RUNTIME REQUEST, "1:1", "no target: expected [target] with base_url"},
        {RUNTIME SIMULATED, "1:1", "nothing to ask for: expected [[requests]]"},
        {"requests = []\n" RUNTIME SIMULATED, "1:1", "nothing to ask for"},
        {"runtime = 3\n" SIMULATED REQUEST, "1:11", "runtime: expected a table, found 3"},
        {"requests = 3\n" RUNTIME SIMULATED, "1:12", "requests: expected an array of tables"},
        {"requests = [3]\n" RUNTIME SIMULATED, "1:13", "expected a table, found 3"},
        {"cookies = 1\n" LEAST, "1:11", "cookies: expected true or false, found 1"},
    };
    REFUSED(LIST);
}

static void keys_that_are_unknown(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {"runtme = 1\n" LEAST, "1:1", "unknown key 'runtme'; did you mean 'runtime'?"},
        {"[runtime]\nduration_second = 1\n" SIMULATED REQUEST, "2:1", "did you mean 'duration_seconds'?"},
        {LEAST "zzzz = 1\n", "8:1", "unknown key 'zzzz'"},
        {LEAST "cookies = true\n", "8:1",
         "unknown key 'cookies' here; it belongs at the top, before the first [table]"},
        {LEAST "vus = 3\n", "8:1", "unknown key 'vus'; it belongs into runtime"},
        {"[runtime]\nevent_log_path = \"x\"\n" SIMULATED REQUEST, "2:1", "--output"},
        {LEAST "\"path\\u0000\" = 1\n", "8:1", "unknown key"},
        {LEAST "checks = [{statas = 1}]\n", "8:12", "did you mean 'status'?"},
        {LEAST "extract = {a = {jason = \"\"}}\n", "8:17", "did you mean 'json'?"},
        {LEAST "[assertions]\np98_latency_ms = 1\n", "9:1", "did you mean 'p9"},
        {LEAST "[assertions]\nrps_min = {least = 1}\n", "9:12", "unknown key 'least'"},
        {RUNTIME REQUEST "[simulated]\nlatency_ms = {p55 = 1}\n", "7:15", "did you mean 'p"},
    };
    REFUSED(LIST);
}

static void numbers_and_times(void **state)
{
    (void)state;
#define DURATION(text) "[runtime]\nvus = 1\nduration_seconds = " text "\n" SIMULATED REQUEST
    static const struct refusal LIST[] = {
        {DURATION("0"), "3:20", "duration_seconds: expected a time from 1ns to 24h"},
        {DURATION("-1"), "3:20", "found -1"},
        {DURATION("86401"), "3:20", "found 86401"},
        {DURATION("86400.000000001"), "3:20", "found 86400.000000001"},
        {DURATION("0.0000000001"), "3:20", "in whole nanoseconds"},
        {DURATION("1.0000000001"), "3:20", "found 1.0000000001"},
        {DURATION("1e300"), "3:20", "found 1e+300"},
        {DURATION("inf"), "3:20", "found inf"},
        {DURATION("nan"), "3:20", "found nan"},
        {DURATION("9223372036854775807"), "3:20", "found 9223372036854775807"},
        {DURATION("true"), "3:20", "found true"},
        {DURATION("[1]"), "3:20", "found an array"},
        {DURATION("\"\""), "3:20", "a number of seconds, or a string such as"},
        {DURATION("\"1\""), "3:20", "found the string '1'"},
        {DURATION("\"1 s\""), "3:20", "found"},
        {DURATION("\"s\""), "3:20", "found"},
        {DURATION("\"1.s\""), "3:20", "found"},
        {DURATION("\"1x\""), "3:20", "found"},
        {DURATION("\"1S\""), "3:20", "found"},
        {DURATION("\"-1s\""), "3:20", "found"},
        {DURATION("\"1s2\""), "3:20", "found"},
        {DURATION("\"1.5ns\""), "3:20", "in whole nanoseconds"},
        {DURATION("\"0.0000000001s\""), "3:20", "found"},
        {DURATION("\"99999999999999999999999s\""), "3:20", "found"},
        {DURATION("\"9999999999999999999h\""), "3:20", "found"},
        {DURATION("\"18446744073709551617s\""), "3:20", "found"},
        {DURATION("\"5124095576031h\""), "3:20", "found"},      /* 2^64 ns many times, and 34 min */
        {DURATION("\"5124095h34m33s710ms\""), "3:20", "found"}, /* 2^64 ns, and 0.4 ms */
        {DURATION("\"1s\\u0000\""), "3:20", "found"},
        {"[runtime]\ntick = 1\n" SIMULATED REQUEST, "2:8", "1ns to 1s"},
        {"[runtime]\ntick = \"2s\"\n" SIMULATED REQUEST, "2:8", "1ns to 1s"},
        {"[runtime]\ntick_us = 0\n" SIMULATED REQUEST, "2:11", "a number of microseconds"},
        {"[runtime]\nvus = 0\n" SIMULATED REQUEST, "2:7", "vus: expected an integer from 1 to 100000"},
        {"[runtime]\nvus = 100001\n" SIMULATED REQUEST, "2:7", "found 100001"},
        {"[runtime]\nvus = 1.0\n" SIMULATED REQUEST, "2:7", "found 1"},
        {"[runtime]\nseed = -1\n" SIMULATED REQUEST, "2:8", "from 0 to 9223372036854775807"},
        {LEAST "weight = -0.5\n", "8:10", "a number from 0 to 1000000 with at most 6 decimals"},
        {LEAST "weight = 0.0000001\n", "8:10", "found 1e-07"},
        {LEAST "weight = 1000000.000001\n", "8:10", "found 1000000.000001"},
        {LEAST "weight = \"1\"\n", "8:10", "found the string '1'"},
        {LEAST "weight = 9223372036854775807\n", "8:10", "found 9223372036854775807"},
        {LEAST "name = \"a\\u0000b\"\n", "8:8", "without the character U+0000"},
        {LEAST "name = \"\"\n", "8:8", "a string of 1 to 200 bytes"},
        {LEAST "name = 3\n", "8:8", "expected a string"},
        {"[metadata]\ntags = \"a\"\n" LEAST, "2:8", "an array of strings"},
        {"[metadata]\ntags = [1]\n" LEAST, "2:9", "expected a string"},
    };
    REFUSED(LIST);
}

static void options_that_exclude_each_other(void **state)
{
    (void)state;
#define SCHEDULE(text) "[schedule]\n" text SIMULATED REQUEST
    static const struct refusal LIST[] = {
        {"[runtime]\nvus = 1\nduration_seconds = 1\niterations = 1\n" SIMULATED REQUEST, "4:14",
         "duration_seconds and iterations exclude each other"},
        {"[runtime]\nseed = 1\nprng_seed = 1\n" SIMULATED REQUEST, "2:8", "prng_seed and seed exclude"},
        {"[runtime]\ntick = \"1ms\"\ntick_us = 1\n" SIMULATED REQUEST, "3:11", "tick and tick_us exclude"},
        {"[runtime]\nvus = 1\n" SIMULATED REQUEST, "1:1",
         "expected a key 'duration_seconds' in [runtime], found none: how long the run lasts (or "
         "'iterations'"},
        {"[runtime]\nduration_seconds = 1\n" SIMULATED REQUEST, "1:1", "expected a key 'vus'"},
        {"[runtime]\nduration_seconds = 1\nvus = 1\nwarm_up_seconds = 1\n" SIMULATED REQUEST, "4:19",
         "warm_up_seconds: expected less than the run lasts"},
        {"[runtime]\niterations = 3\n"
         "[schedule]\ntype = \"ramp\"\nend_vus = 2\nramp_duration_seconds = 1\n" SIMULATED REQUEST,
         "2:14", "iterations and a schedule of type \"ramp\" exclude each other"},
        {"[runtime]\niterations = 3\nvus = 1\n"
         "[schedule]\ntype = \"arrival_rate\"\nrate = 1\n" SIMULATED REQUEST,
         "2:14", "iterations and a schedule of type \"arrival_rate\""},
        {RUNTIME "[schedule]\ntype = \"constant\"\nvus = 5\n" SIMULATED REQUEST, "6:7",
         "vus: expected 4 as in [runtime], or none here, found 5"},
        {RUNTIME SCHEDULE("type = \"ramp\"\nend_vus = 5\nramp_duration_seconds = 1\n"), "3:7",
         "vus: expected the 5 that the schedule has at most, or none here, found 4"},
        {RUNTIME SCHEDULE("type = \"ramp\"\nend_vus = 4\nramp_duration_seconds = 4\n"
                          "hold_duration_seconds = 5\n"),
         "2:20", "duration_seconds: expected the 9s of the schedule, or none here, found 10s"},
        {RUNTIME SCHEDULE("type = \"ramp\"\nend_vus = 4\nramp_duration_seconds = 11\n"), "2:20",
         "expected the 11s of the schedule"},
        {SCHEDULE("type = \"steps\"\nsteps = [{vus = 1, duration_seconds = 86400}, {vus = 1, "
                  "duration_seconds = 1}]\n"),
         "1:1", "at most 24h"},
        {SCHEDULE("type = \"steps\"\nsteps = [{vus = 0, duration_seconds = 1}]\n"), "1:1", "at least one user"},
        {SCHEDULE("type = \"steps\"\nsteps = [{vus = 60000, duration_seconds = 1}, {vus = 0, "
                  "duration_seconds = 1}, {vus = 40001, duration_seconds = 1}]\n"),
         "1:1", "every way up counts: 100001 users in all, limits.max_vus is 100000"},
        {LEAST "[limits]\nmax_vus = 3\n", "3:7", "4 users in all, limits.max_vus is 3"},
    };
    REFUSED(LIST);
}

static void schedules(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {SCHEDULE("type = \"steps\"\n"), "1:1", "expected [[schedule.steps]], found none"},
        {SCHEDULE("type = \"ramp\"\nramp_duration_seconds = 1\n"), "1:1",
         "expected a key 'end_vus', found none in schedule"},
        {SCHEDULE("type = \"ramp\"\nend_vus = 1\n"), "1:1", "'ramp_duration_seconds'"},
        {SCHEDULE("end_vus = 1\n"), "1:1", "expected a key 'type', found none in schedule"},
        {SCHEDULE("type = \"rampe\"\n"), "2:8", "expected \"constant\", \"ramp\", \"spike\""},
        {SCHEDULE("type = \"ramp\"\nspike_vus = 1\n"), "3:13",
         "spike_vus has no effect in a schedule of type \"ramp\""},
        {RUNTIME SCHEDULE("type = \"spike\"\nbaseline_vus = 1\nspike_vus = 4\nspike_start_seconds "
                          "= 9\nspike_duration_seconds = 2\n"),
         "4:1", "expected an end within the 10s of the run"},
        {"[runtime]\nvus = 4\n" SCHEDULE("type = \"spike\"\nbaseline_vus = 1\nspike_vus = 4\n"
                                         "spike_start_seconds = 9\nspike_duration_seconds = 2\n"),
         "1:1", "expected a key 'duration_seconds'"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\n"), "4:1", "expected a key 'rate'"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 0\n"), "6:8",
         "a number from 0.001 to 1000000 with at most 3 decimals"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1000000.001\n"), "6:8", "found"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 0.0001\n"), "6:8", "found"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1\nstages = []\n"), "7:10", "rate and stages exclude"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1\nstart_rate = 1\n"), "7:14",
         "rate and start_rate exclude"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nstages = []\n"), "4:1", "expected [[schedule.stages]]"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nstages = [{rate = 0, duration_seconds = 10}]\n"), "4:1",
         "expected a rate above 0"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nstages = [{rate = 1, duration_seconds = 9}]\n"), "2:20",
         "expected the 9s of the schedule"},
        {"[runtime]\nduration_seconds = 1\n" SCHEDULE("type = \"arrival_rate\"\nrate = 1\n"), "1:1",
         "expected a key 'vus'"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1\ndeal = \"random\"\n"), "7:8",
         "\"recent\" or \"in_turn\""},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1\nconnect = \"never\"\n"), "7:11",
         "\"before\" or \"when_needed\""},
        {RUNTIME SCHEDULE("type = \"constant\"\ndeal = \"in_turn\"\n"), "6:8", "deal has no effect"},
        {RUNTIME SCHEDULE("type = \"arrival_rate\"\nrate = 1\nwhen_busy = \"fail\"\n"), "7:13",
         "expected \"wait\" or \"drop\""},
        {LEAST "[think_time]\ntype = \"constant\"\n", "8:1", "expected a key 'duration_ms'"},
        {LEAST "[think_time]\ntype = \"constant\"\nmin_ms = 1\nduration_ms = 1\n", "10:10", "min_ms has no effect"},
        {LEAST "[think_time]\nmin_ms = 1\nmax_ms = 2\nduration_ms = 1\n", "11:15", "duration_ms has no effect"},
        {LEAST "[think_time]\nmin_ms = 2\n", "8:1", "expected a key 'max_ms'"},
        {LEAST "[think_time]\nmin_ms = 2\nmax_ms = 1\n", "10:10", "not less than min_ms"},
    };
    REFUSED(LIST);
}

static void targets(void **state)
{
    (void)state;
#define TARGET(text) RUNTIME REQUEST "[target]\n" text
    static const struct refusal LIST[] = {
        {TARGET(""), "6:1", "expected a key 'base_url', found none in target"},
        {TARGET("base_url = \"localhost\"\n"), "7:12",
         "base_url: expected a URL that begins with http:// or https://, found 'localhost'"},
        {TARGET("base_url = \"http://u:p@h\"\n"), "7:12", "expected no user name and password"},
        {TARGET("base_url = \"http://h:99999\"\n"), "7:12", "expected a port from 1 to 65535"},
        {TARGET("base_url = \"http://h\"\ntls = true\n"), "8:7", "tls: expected false as the scheme of base_url says"},
        {TARGET("base_url = \"http://h\"\nverify_cert = true\n"), "8:15", "verify_cert has no effect"},
        {TARGET("base_url = \"http://h\"\nca_bundle = \"x\"\n"), "8:13", "ca_bundle has no effect"},
        {TARGET("base_url = \"http://h\"\nhttp_version = \"http3\"\n"), "8:16", "expected \"http1.1\" or \"http2\""},
        {TARGET("base_url = \"http://h\"\nstreams = 2\n"), "8:11", "streams: expected 1, or"},
        {TARGET("base_url = \"http://h\"\nhttp_version = \"http2\"\nstreams = 101\n"), "9:11", "from 1 to 100"},
        {TARGET("base_url = \"http://h\"\nmax_connections = 0\n"), "8:19", "from 1 to 100000"},
        {TARGET("base_url = \"http://h\"\nmax_connections = 9\n[limits]\nmax_connections = 8\n"), "8:19",
         "from 1 to 8"},
        {TARGET("base_url = \"http://h\"\nserver_name = \"a b\"\n"), "8:15", "the name of a host"},
        {TARGET("base_url = \"http://h\"\nweight = 0\n"), "6:1", "expected a weight above 0"},
        {TARGET("base_url = \"http://h\"\n[[targets]]\n"), "8:1", "target and targets exclude"},
        {RUNTIME REQUEST "[[targets]]\nbase_url = \"http://h\"\n", "6:1",
         "expected a key 'name', found none in targets"},
        {RUNTIME REQUEST "[[targets]]\nname = \"a\"\nbase_url = \"http://h\"\n"
                         "[[targets]]\nname = \"a\"\nbase_url = \"http://h\"\n",
         "9:1", "two targets are called 'a'"},
        {RUNTIME REQUEST "[[targets]]\nname = \"a\"\nbase_url = \"http://h\"\nweight = 0\n", "6:1",
         "expected a weight above 0, found none in targets"},
        {RUNTIME REQUEST "target = \"mian\"\n[[targets]]\nname = \"main\"\nbase_url = "
                         "\"http://h\"\n",
         "6:10", "there is no target 'mian'; did you mean 'main'?"},
    };
    REFUSED(LIST);
}

static void requests(void **state)
{
    (void)state;
#define FIRST RUNTIME SIMULATED "[[requests]]\n"
    static const struct refusal LIST[] = {
        {FIRST, "6:1", "expected a key 'path', found none in requests"},
        {FIRST "path = \"x\"\n", "7:8", "path: expected a path that begins with /"},
        {FIRST "path = \"/a b\"\n", "7:8", "the byte 0x20 is not allowed in a path"},
        {FIRST "path = \"/a#b\"\n", "7:8", "0x23"},
        {FIRST "path = \"/\\u00e4\"\n", "7:8", "expected it percent-encoded, as %C3"},
        {FIRST "path = \"/a\\r\\nX: y\"\n", "7:8", "0x0d"},
        {LEAST "method = \"get\"\n", "8:10", "in capital letters"},
        {LEAST "method = \"A B\"\n", "8:10", "method: expected GET"},
        {LEAST "method = \"CONNECT\"\n", "8:10", "but not CONNECT"},
        {LEAST "headers = 1\n", "8:11", "a table of at most 100 headers"},
        {LEAST "headers = {A = 1}\n", "8:16", "expected a string"},
        {LEAST "headers = {\"A B\" = \"\"}\n", "8:20", "'A B' is no name of a header"},
        {LEAST "headers = {\"\" = \"\"}\n", "8:17", "is no name of a header"},
        {LEAST "headers = {A = \"x\\r\\nB: y\"}\n", "8:16", "0x0d is not allowed in a header"},
        {LEAST "headers = {A = \"x\\u007f\"}\n", "8:16", "0x7f is not allowed in a header"},
        {LEAST "headers = {Content-Length = \"1\"}\n", "8:29", "is written by raddle"},
        {LEAST "headers = {transfer-encoding = \"1\"}\n", "8:32", "is written by raddle"},
        {LEAST "headers = {Accept = \"1\", accept = \"2\"}\n", "8:35", "two headers are called 'Accept'"},
        {LEAST "body = \"x\"\nbody_file = \"y\"\n", "9:13", "body and body_file exclude"},
        {LEAST "body = 1\n", "8:8", "expected a string"},
        {LEAST "body_file = \"nowhere\"\n", "8:13", "t/nowhere: no such file"},
        {LEAST "timeout_ms = 0\n", "8:14", "a time from 1ns to 1h"},
        {LEAST "weight = 0\n", "6:1", "expected a weight above 0, found none in requests"},
        {LEAST REQUEST, "8:1", "two requests are called 'GET /'"},
        {LEAST "[sequence]\n", "8:1", "expected [[sequence.steps]], found none"},
        {LEAST "[sequence]\ntype = \"random\"\n", "9:8", "expected \"ordered\""},
        {LEAST "[[sequence.steps]]\n", "8:1", "expected a key 'request'"},
        {LEAST "[[sequence.steps]]\nrequest = \"GOT /\"\n", "9:11",
         "there is no request 'GOT /'; did you mean 'GET /'?"},
        {LEAST "[[sequence.steps]]\nrequest = \"nothing like it\"\n", "9:11", "there is no request 'nothing like it'"},
        {LEAST "[[sequence.steps]]\nrequest = \"GET /\"\nrepeat = 0\n", "10:10", "from 1 to 1000000"},
    };
    REFUSED(LIST);
}

static void checks_and_extraction(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {LEAST "checks = {}\n", "8:10", "an array of tables"},
        {LEAST "checks = [{}]\n", "8:11", "found 0 in checks"},
        {LEAST "checks = [{status = 200, json = \"\"}]\n", "8:11", "found 2 in checks"},
        {LEAST "checks = [{status = 99}]\n", "8:21", "from 100 to 599"},
        {LEAST "checks = [{status = [200]}]\n", "8:21", "a status, [low, high] or \"2xx\""},
        {LEAST "checks = [{status = [300, 200]}]\n", "8:27", "high is less than low"},
        {LEAST "checks = [{status = \"6xx\"}]\n", "8:21", "a status, [low, high] or \"2xx\""},
        {LEAST "checks = [{status = \"2xy\"}]\n", "8:21", "a status"},
        {LEAST "checks = [{status = true}]\n", "8:21", "a status"},
        {LEAST "checks = [{min_bytes = 2, max_bytes = 1}]\n", "8:39", "not less than min_bytes"},
        {LEAST "checks = [{body_contains = \"\"}]\n", "8:28", "a string of 1 to"},
        {LEAST "checks = [{header = \"a b\"}]\n", "8:21", "a name of letters"},
        {LEAST "checks = [{header = \"a\", equals = 1}]\n", "8:35", "expected a string"},
        {LEAST "checks = [{json = \"a\"}]\n", "8:19", "a JSON pointer"},
        {LEAST "checks = [{json = \"/~2\"}]\n", "8:19", "a JSON pointer"},
        {LEAST "checks = [{json = \"/a\", equals = 1.5}]\n", "8:34", "a string, an integer or a boolean"},
        {LEAST "checks = [{status = 200, equals = \"\"}]\n", "8:35", "equals has no effect"},
        {LEAST "extract = 1\n", "8:11", "a table of variables"},
        {LEAST "extract = {a = 1}\n", "8:16", "a table with header, json or cookie"},
        {LEAST "extract = {a = {}}\n", "8:16", "found 0 in extract"},
        {LEAST "extract = {a = {json = \"\", header = \"x\"}}\n", "8:16", "found 2 in extract"},
        {LEAST "extract = {\"a.b\" = {json = \"\"}}\n", "8:20", "'a.b' is no name of a variable"},
        {LEAST "extract = {a = {cookie = \"a b\"}}\n", "8:26", "a name of letters"},
    };
    REFUSED(LIST);
}

static void placeholders(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {LEAST "body = \"${\"\n", "8:8", "${ without a } after it"},
        {LEAST "body = \"${nothing}\"\n", "8:8", "${nothing}: no such placeholder; expected env"},
        {LEAST "body = \"${}\"\n", "8:8", "${}: no such placeholder"},
        {LEAST "body = \"${vu }\"\n", "8:8", "${vu }: no such placeholder"},
        {LEAST "body = \"${vu|}\"\n", "8:8", "${vu|}: no such escape; expected raw, url, form or json"},
        {LEAST "body = \"${vu|URL}\"\n", "8:8", "no such escape"},
        {LEAST "body = \"${var:x|jsno}\"\n", "8:8", "no such escape"},
        {LEAST "body = \"${env:X|json|}\"\n", "8:8", "no such escape"},
        {LEAST "body = \"${random:1-2|raw|url}\"\n", "8:8", "no such escape"},
        {LEAST "body = \"${|raw}\"\n", "8:8", "${|raw}: no such placeholder"},
        {LEAST "body = \"${var:x}\"\n", "8:8", "there is no extracted variable 'x'"},
        {LEAST "body = \"${var:tokne}\"\nextract = {token = {json = \"\"}}\n", "8:8",
         "there is no extracted variable 'tokne'; did you mean 'token'?"},
        {LEAST "headers = {A = \"${var:x}\"}\n", "8:16", "extracted variable"},
        {FIRST "path = \"/${var:x}\"\n", "7:8", "extracted variable"},
        {LEAST "body = \"${env:}\"\n", "8:8", "the name of an environment variable"},
        {LEAST "body = \"${env:1A}\"\n", "8:8", "the name of an environment variable"},
        {LEAST "body = \"${env:A=}\"\n", "8:8", "the name of an environment variable"},
        {LEAST "body = \"${random:}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${random:1}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${random:2-1}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${random:-1-1}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${random:1-2x}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${random:0-18446744073709551616}\"\n", "8:8", "expected LOW-HIGH"},
        {LEAST "body = \"${data:u}\"\n", "8:8", "expected FILE.COLUMN"},
        {LEAST "body = \"${data:usres.a}\"\n[[data]]\nname = \"users\"\nfile = \"u.csv\"\n", "8:8",
         "there is no [[data]] of the name 'usres'; did you mean 'users'?"},
        {LEAST "body = \"${data:users.nmae}\"\n[[data]]\nname = \"users\"\nfile = \"u.csv\"\n", "8:8",
         "there is no column in data file 'users' of the name 'nmae'; did you mean 'name'?"},
        {LEAST "body = \"${data:users.name|xml}\"\n[[data]]\nname = \"users\"\nfile = \"u.csv\"\n", "8:8",
         "there is no column in data file 'users' of the name 'name|xml'"},
    };
    rad__load_scenario s;
    scenario_file("u.csv", "name,b,c|d\n1,2,3\n");
    REFUSED(LIST);
    scenario_read(&s, LEAST "body = \"${data:users.c|d}${data:users.c|d|json}${data:users.b|raw}"
                            "${vu|url}${env:A|form}\"\n"
                            "[[data]]\nname = \"users\"\nfile = \"u.csv\"\n");
    rad__load_scenario_free(&s);
    scenario_read(&s, LEAST "body = \"$${nothing} $$${nothing} $ {} $$ ${vu}${iteration}${position}"
                            "${uuid}${random:0-18446744073709551615}${env:_HOME}\"\n");
    rad__load_scenario_free(&s);
}

static void data(void **state)
{
    (void)state;
#define DATA(file) LEAST "[[data]]\nname = \"u\"\nfile = \"" file "\"\n"
    static const struct refusal LIST[] = {
        {LEAST "[[data]]\n", "8:1", "expected a key 'name', found none in data"},
        {LEAST "[[data]]\nname = \"a.b\"\nfile = \"u\"\n", "9:8", "letters, digits, _ and -"},
        {LEAST "[[data]]\nname = \"a\"\n", "8:1", "expected a key 'file'"},
        {DATA("nowhere"), "10:8", "t/nowhere: no such file"},
        {DATA("good") "order = \"random\"\n", "11:9", "expected \"in_turn\", \"drawn\" or"},
        {DATA("good") "separator = \"ab\"\n", "11:13", "a string of 1 to 1 bytes"},
        {DATA("good") "separator = '\"'\n", "11:13", "one character"},
        {DATA("good") "columns = []\n", "11:11", "names of the columns"},
        {DATA("good") "columns = [\"x\"]\n", "10:8", "good:1: expected 1 cells as there are columns, found 2"},
        {DATA("good") "columns = [\"x\", \"x\"]\n", "10:8", "two columns have the same name"},
        {DATA("empty"), "10:8", "empty:1: expected rows, found none"},
        {DATA("head"), "10:8", "expected rows, found none"},
        {DATA("ragged"), "10:8", "ragged:4: expected 2 cells as there are columns, found 1"},
        {DATA("open"), "10:8", "open:2: expected a quote at the end of the cell"},
        {DATA("quote"), "10:8", "quote:2: a quote inside a cell"},
        {DATA("after"), "10:8", "after:2: expected the end of the cell after its last quote"},
        {DATA("twins"), "10:8", "twins:1: two columns have the same name"},
        {DATA("nameless"), "10:8", "nameless:1: expected names of columns"},
        {DATA("good") "[[data]]\nname = \"u\"\nfile = \"good\"\n", "11:1", "two data files are called 'u'"},
    };
    scenario_file("good", "a,b\n1,2\n");
    scenario_file("empty", "");
    scenario_file("head", "a,b\n");
    scenario_file("ragged", "a,b\n\"1\n1\",2\n1\n");
    scenario_file("open", "a,b\n1,\"2\n3,4\n");
    scenario_file("quote", "a,b\n1,x\"2\"\n");
    scenario_file("after", "a,b\n\"1\"x,2\n");
    scenario_file("twins", "a,a\n1,2\n");
    for (size_t i = 0; i < sizeof LIST / sizeof *LIST; i++) {
        if (strstr(LIST[i].text, "nameless") != NULL) {
            scenario_files_clear();
            scenario_file("nameless", "a,\n1,2\n");
            scenario_file("good", "a,b\n1,2\n");
        }
        scenario_refused(LIST[i].text, LIST[i].place, LIST[i].words);
    }
}

static void bounds(void **state)
{
    (void)state;
    static const struct refusal LIST[] = {
        {LEAST "[assertions]\np99_latency_ms = 0\n", "9:18", "a time from 1ns to 1h"},
        {LEAST "[assertions]\nerror_rate_max = 1.5\n", "9:18", "a number from 0 to 1"},
        {LEAST "[assertions]\nrps_min = 0\n", "9:11", "from 0.001 to 1000000"},
        {LEAST "[assertions]\nrps_min = {max = 1}\n", "9:18", "rps_min: expected 'min', found 'max'"},
        {LEAST "[assertions]\nerror_rate_max = {min = 1}\n", "9:25", "expected 'max', found 'min'"},
        {LEAST "[assertions]\nrps_min = {abort = true}\n", "9:11", "expected a key 'min'"},
        {LEAST "[assertions]\nrps_min = {min = 1, abort = 1}\n", "9:29", "true or false"},
        {LEAST "[assertions]\np99_response_ms = 1\n", "9:19",
         "p99_response_ms: expected a schedule of type \"arrival_rate\""},
        {LEAST "[assertions]\nrate_reached_min = 1\n", "9:20", "arrival_rate"},
        {LEAST "[assertions]\ndropped_max = 1\n", "9:15", "arrival_rate"},
        {LEAST "[assertions]\nchecks_min = 1\n", "9:14", "expected checks in some request"},
        {LEAST "[limits]\nmax_vus = 100001\n", "9:11", "from 1 to 100000"},
        {LEAST "[limits]\nmax_events = 1000001\n", "9:14", "from 1 to 1000000"},
        {LEAST "[limits]\nmax_event_log_size_mb = 10241\n", "9:25", "from 1 to 10240"},
        {LEAST "[limits]\nrequest_timeout_ms = \"2h\"\n", "9:22", "a time from 1ns to 1h"},
        {LEAST "[limits]\nmax_response_bytes = 10485761\n", "9:22", "from 1 to 10485760"},
    };
    REFUSED(LIST);
}

static void simulated(void **state)
{
    (void)state;
#define WORLD RUNTIME REQUEST "[simulated]\n"
    static const struct refusal LIST[] = {
        {WORLD, "6:1", "expected a key 'latency_ms', found none in simulated"},
        {WORLD "latency_ms = -1\n", "7:14", "a time from 0s to 1h"},
        {WORLD "latency_ms = []\n", "7:14", "a time from 0s to 1h"},
        {WORLD "latency_ms = {}\n", "7:14", "expected min, p50, max"},
        {WORLD "latency_ms = {min = 2, max = 1}\n", "7:30", "not a smaller value than before"},
        {WORLD "latency_ms = {min = 2, points = []}\n", "7:14", "points and other keys exclude"},
        {WORLD "latency_ms = {points = []}\n", "7:24", "an array of 1 to 100 pairs"},
        {WORLD "latency_ms = {points = [1]}\n", "7:25", "a pair [share, value]"},
        {WORLD "latency_ms = {points = [[0]]}\n", "7:25", "a pair [share, value]"},
        {WORLD "latency_ms = {points = [[1.1, 0]]}\n", "7:26", "a number from 0 to 1"},
        {WORLD "latency_ms = {points = [[0, 1], [0, 2]]}\n", "7:33", "a larger share"},
        {WORLD "latency_ms = {points = [[0, 2], [1, 1]]}\n", "7:33", "not a smaller value"},
        {WORLD "latency_ms = 1\nbody_bytes = 1.5\n", "8:14", "an integer from 0 to 10485760"},
        {WORLD "latency_ms = 1\nstatus = 200\n", "8:10", "a table of statuses and weights"},
        {WORLD "latency_ms = 1\nstatus = {\"99\" = 1}\n", "8:18", "a status from"},
        {WORLD "latency_ms = 1\nstatus = {\"600\" = 1}\n", "8:19", "a status from"},
        {WORLD "latency_ms = 1\nstatus = {\"2a0\" = 1}\n", "8:19", "a status from"},
        {WORLD "latency_ms = 1\nstatus = {\"200\" = 0}\n", "8:10", "a weight above 0"},
        {WORLD "latency_ms = 1\nstatus = {}\n", "8:10", "a weight above 0"},
        {WORLD "latency_ms = 1\nloss_rate = 1.1\n", "8:13", "a number from 0 to 1"},
        {WORLD "latency_ms = 1\nstall_seconds = 1\n", "8:17", "belong together"},
        {WORLD "latency_ms = 1\nstall_every_seconds = 1\n", "8:23", "belong together"},
        {WORLD "latency_ms = 1\nstall_every_seconds = 1\nstall_seconds = 0.991\n", "9:17", "at most 99 %"},
        {WORLD "latency_ms = 1\nworkers = 100001\n", "8:11", "from 0 to 100000"},
    };
    REFUSED(LIST);
}

/* So many of something are right, one more is refused with these words. */
static void at_most(const char *before, const char *item, uint32_t most, const char *after, const char *words)
{
    rad_bytes text = {0};
    rad__load_scenario s;
    rad_error error = {0};
    for (uint32_t count = most; count <= most + 1; count++) {
        text.size = 0;
        rad__bytes_put(&text, before, strlen(before));
        for (uint32_t i = 0; i < count; i++) {
            const char *number = strchr(item, '@');
            if (number == NULL) {
                rad__bytes_put(&text, item, strlen(item));
            } else {
                rad__bytes_put(&text, item, (size_t)(number - item));
                rad__bytes_format(&text, "%u", i);
                rad__bytes_put(&text, number + 1, strlen(number + 1));
            }
        }
        rad__bytes_put(&text, after, strlen(after));
        assert_false(text.failed);
        int code = rad__load_scenario_parse(&s, "t/s", (char *)text.data, text.size, &SCENARIO_FILES, &error);
        if ((code == 0) != (count == most)) fail_msg("%u of %s: %s", count, item, error.text);
        rad__load_scenario_free(&s);
    }
    if (strstr(error.text, words) == NULL) fail_msg("says '%s', not '%s'", error.text, words);
    rad__bytes_free(&text);
}

static void more_than_there_may_be(void **state)
{
    (void)state;
    at_most(RUNTIME SIMULATED, "[[requests]]\npath = \"/@\"\n", 1000, "",
            "requests: expected at most 1000 of them, found 1001");
    at_most(RUNTIME REQUEST, "[[targets]]\nname = \"@\"\nbase_url = \"http://h\"\n", 100, "",
            "targets: expected at most 100 of them");
    at_most(LEAST, "[[requests.checks]]\nstatus = 200\n", 64, "", "at most 64 of them");
    at_most(LEAST "[requests.headers]\n", "H@ = \"\"\n", 100, "", "at most 100 headers");
    at_most(LEAST "[requests.extract]\n", "v@ = {json = \"\"}\n", 256, "", "at most 256 variables");
    at_most(LEAST, "[[sequence.steps]]\nrequest = \"GET /\"\n", 10000, "", "at most 10000");
    at_most(LEAST, "[[sequence.steps]]\nrequest = \"GET /\"\nrepeat = 1000000\n", 16, "",
            "less than 16,777,216 requests");
#define STEP(repeat) "[[sequence.steps]]\nrequest = \"GET /\"\nrepeat = " repeat "\n"
#define FOUR         STEP("1000000") STEP("1000000") STEP("1000000") STEP("1000000")
    at_most(LEAST FOUR FOUR FOUR FOUR STEP("777214"), STEP("1"), 1, "", "less than 16,777,216");
    at_most(RUNTIME REQUEST "[simulated]\nlatency_ms = {points = [", "[0.000@, 1],", 10, "]}\n",
            "a larger share"); /* 0.0009, then 0.00010 */
    at_most(SIMULATED REQUEST "[schedule]\ntype = \"steps\"\n", "[[schedule.steps]]\nvus = 1\nduration_seconds = 1\n",
            1000, "", "at most 1000");
    at_most(LEAST "name = \"", "x", 200, "\"\n", "1 to 200 bytes");
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* Where a key stands when everything else is right; the first frame counts that has the key among its words. */
static const char *frame_of(const char *section, const char *key)
{
    static const struct {
        const char *section, *keys, *text;
    } FRAMES[] = {
        {"", " runtime ", SIMULATED REQUEST},
        {"", " simulated ", RUNTIME REQUEST},
        {"", " requests ", RUNTIME SIMULATED},
        {"", NULL, LEAST},
        {"metadata", NULL, LEAST "[metadata]\n"},
        {"runtime", " iterations ", SIMULATED REQUEST "[runtime]\nvus = 4\n"},
        {"runtime", NULL, SIMULATED REQUEST "[runtime]\nvus = 4\nduration_seconds = 10\n"},
        {"target", " verify_cert ca_bundle ", RUNTIME REQUEST "[target]\nbase_url = \"https://h\"\n"},
        {"target", NULL, RUNTIME REQUEST "[target]\nbase_url = \"http://h\"\n"},
        {"requests", NULL, RUNTIME SIMULATED "[[requests]]\npath = \"/x\"\n"},
        {"requests.checks", " name ", LEAST "[[requests.checks]]\nstatus = 200\n"},
        {"requests.checks", " equals ", LEAST "[[requests.checks]]\nheader = \"a\"\n"},
        {"requests.checks", NULL, LEAST "[[requests.checks]]\n"},
        {"requests.extract", NULL, LEAST "[requests.extract.x]\n"},
        {"schedule", " start_vus end_vus ramp_duration_seconds hold_duration_seconds ",
         SIMULATED REQUEST "[schedule]\ntype = \"ramp\"\nend_vus = 1\nramp_duration_seconds = 1\n"},
        {"schedule", " baseline_vus spike_vus spike_start_seconds spike_duration_seconds ",
         SIMULATED REQUEST "[runtime]\nduration_seconds = 10\n[schedule]\ntype = \"spike\"\n"
                           "baseline_vus = 1\nspike_vus = 2\nspike_start_seconds = 1\n"
                           "spike_duration_seconds = 1\n"},
        {"schedule", " steps ", SIMULATED REQUEST "[schedule]\ntype = \"steps\"\n"},
        {"schedule", " rate when_busy deal connect ", LEAST "[schedule]\ntype = \"arrival_rate\"\nrate = 1\n"},
        {"schedule", " start_rate stages ", LEAST "[schedule]\ntype = \"arrival_rate\"\nstages = 1\n"},
        {"schedule", NULL, LEAST "[schedule]\ntype = \"constant\"\n"},
        {"schedule.steps", NULL,
         REQUEST SIMULATED "[schedule]\ntype = \"steps\"\n[[schedule.steps]]\nvus = 1\n"
                           "duration_seconds = 1\n"},
        {"schedule.stages", NULL,
         REQUEST SIMULATED "[schedule]\nvus = 1\ntype = \"arrival_rate\"\n[[schedule.stages]]\n"
                           "rate = 1\nduration_seconds = 1\n"},
        {"think_time", " min_ms max_ms ", LEAST "[think_time]\nmin_ms = 1\nmax_ms = 2\n"},
        {"think_time", NULL, LEAST "[think_time]\nduration_ms = 1\n"},
        {"sequence", NULL, LEAST "[sequence]\n"},
        {"sequence.steps", NULL, LEAST "[[sequence.steps]]\nrequest = \"GET /\"\n"},
        {"assertions", NULL,
         RUNTIME SIMULATED REQUEST "checks = [{status = 200}]\n[schedule]\ntype = "
                                   "\"arrival_rate\"\nrate = 1\n[assertions]\n"},
        {"assertions.*", " max ", LEAST "[assertions.error_rate_max]\n"},
        {"assertions.*", NULL, LEAST "[assertions.rps_min]\nmin = 1\n"},
        {"limits", NULL, LEAST "[limits]\n"},
        {"data", NULL, LEAST "[[data]]\nname = \"a\"\nfile = \"u.csv\"\n"},
        {"simulated", " stall_every_seconds stall_seconds ",
         RUNTIME REQUEST "[simulated]\nlatency_ms = 1\nstall_every_seconds = 2\nstall_seconds = 1\n"},
        {"simulated", NULL, RUNTIME REQUEST "[simulated]\nlatency_ms = 1\n"},
        {"simulated curves", NULL, RUNTIME REQUEST "[simulated.latency_ms]\n"},
    };
    char word[100];
    snprintf(word, sizeof word, " %s ", key);
    for (size_t i = 0; i < sizeof FRAMES / sizeof *FRAMES; i++)
        if (strcmp(FRAMES[i].section, section) == 0 && (FRAMES[i].keys == NULL || strstr(FRAMES[i].keys, word) != NULL))
            return FRAMES[i].text;
    fail_msg("no frame for section '%s'", section);
    return NULL;
}

/* The frame with a date as the value of the key, in place of its value or as one more line; which line it is. */
static uint32_t with_a_date(const char *frame, const char *section, const char *key, char text[1000])
{
    char line[100];
    uint32_t number = 1;
    snprintf(line, sizeof line, "\n%s = ", key);
    const char *table = strrchr(frame, '\n'), *old = NULL;
    for (table = frame; strchr(table + 1, '[') != NULL;) table = strchr(table + 1, '[');
    if (*section != 0) old = strstr(table, line);
    if (*section == 0) {
        snprintf(text, 1000, "%s = 1979-05-27\n%s", key, frame);
    } else if (old != NULL) {
        snprintf(text, 1000, "%.*s%s1979-05-27%s", (int)(old - frame), frame, line, strchr(old + 1, '\n'));
        for (const char *p = frame; p <= old; p++) number += *p == '\n';
    } else {
        snprintf(text, 1000, "%s%s = 1979-05-27\n", frame, key);
        for (const char *p = frame; *p != 0; p++) number += *p == '\n';
    }
    return number;
}

/* Whoever is in the list is asked for: a date, which is nowhere right, is refused at its place and by its name. */
static void every_key_is_asked_for(void **state)
{
    (void)state;
    uint32_t count = 0;
    scenario_file("u.csv", "a\n1\n");
    for (const struct rad__load_keys *k = rad__load_sections; k->section != NULL; k++) {
        for (const char *const *key = k->keys; *key != NULL; key++, count++) {
            char text[1000], place[40];
            rad__load_scenario s;
            rad_error error = {0};
            uint32_t line = with_a_date(frame_of(k->section, *key), k->section, *key, text);
            int code = rad__load_scenario_parse(&s, "t/x", text, strlen(text), &SCENARIO_FILES, &error);
            snprintf(place, sizeof place, "t/x:%u:%zu: %s: expected", line, strlen(*key) + 4, *key);
            if (code != RAD_EINPUT || strncmp(error.text, place, strlen(place)) != 0)
                fail_msg("says '%s', should say '%s' of\n%s", error.text, place, text);
        }
    }
    assert_true(count > 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(keys_that_are_unknown),
        cmocka_unit_test(numbers_and_times),
        cmocka_unit_test(options_that_exclude_each_other),
        cmocka_unit_test(schedules),
        cmocka_unit_test(targets),
        cmocka_unit_test(requests),
        cmocka_unit_test(checks_and_extraction),
        cmocka_unit_test_teardown(placeholders, forget),
        cmocka_unit_test_teardown(data, forget),
        cmocka_unit_test(bounds),
        cmocka_unit_test(simulated),
        cmocka_unit_test(more_than_there_may_be),
        cmocka_unit_test_teardown(every_key_is_asked_for, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
