/* fuzz_artifact.c — any bytes as an artifact, and as a case file: an error, or an artifact or a case that is
 * written and read back the same; never anything else. */
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/case.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const rad_param params[] = {
    {"n", 3, 2, 100, "", false},
    {"depth", 0, -5, 5, "", false},
    {0},
};

/* A body is taken when it has a list `list`. */
static int fuzz_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    *self = NULL;
    if (c->body == NULL) return 0;
    const rad_json_source whole = {"body", error}, place = {NULL, error};
    json_t *body = rad__json_load(&whole, c->body, strlen(c->body));
    if (body == NULL) return error->code;
    const json_t *list = json_object_get(body, "list");
    int code = json_is_array(list) ? 0 : rad__json_bad(&place, "list", "a list", list);
    json_decref(body);
    return code;
}

static void fuzz_destroy(void *self)
{
    (void)self;
}

static void fuzz_reset(void *self, rad_kernel *k)
{
    (void)self;
    (void)k;
}

static void fuzz_step(void *self, rad_kernel *k, uint32_t action)
{
    (void)self;
    (void)k;
    (void)action;
}

static enum rad_end fuzz_idle(void *self, rad_kernel *k)
{
    (void)self;
    (void)k;
    return RAD_END_FINISHED;
}

static const rad_machine machine = {
    .name = "fuzz",
    .about = "for fuzzing",
    .params = params,
    .bug_site = RAD_NONE,
    .create = fuzz_create,
    .destroy = fuzz_destroy,
    .reset = fuzz_reset,
    .step = fuzz_step,
    .idle = fuzz_idle,
};

/* The same with a document. */
static rad_machine with_body;

static void prepare(void)
{
    rad_error error = {0};
    with_body = machine;
    with_body.name = "fuzz-body";
    with_body.body = "{\"list\":[]}";
    if (rad_machine_add(&machine, &error) != 0 || rad_machine_add(&with_body, &error) != 0) abort();
}

static void require(bool condition)
{
    if (!condition) abort();
}

static void write_and_read(const rad_artifact *a)
{
    rad_error error = {0};
    rad_artifact *b;
    char *text = rad_artifact_json(a, &error);
    require(text != NULL);
    require(rad__artifact_parse(&b, text, strlen(text), "again", false, &error) == 0);
    char *again = rad_artifact_json(b, &error);
    require(again != NULL && strcmp(text, again) == 0);
    rad_artifact_free(b);
    rad_free(text);
    text = rad_artifact_base64(a, &error);
    require(text != NULL);
    require(rad__artifact_parse(&b, text, strlen(text), "base64", false, &error) == 0);
    rad_artifact_free(b);
    rad_free(text);
    rad_free(again);
}

/* The same bytes as a case file. */
static void read_case(const char *data, size_t size)
{
    rad_error error = {0};
    rad_target t, again;
    int code = rad__target_parse(&t, data, size, "input", &error);
    require(code == 0 || (code == RAD_EINPUT && error.text[0] != 0 && t.c.body == NULL));
    if (code != 0) return;
    char *text = rad_target_json(&t, &error);
    require(text != NULL);
    require(rad__target_parse(&again, text, strlen(text), "again", &error) == 0);
    require(rad__digest_equal(rad__case_digest(&t), rad__case_digest(&again)));
    rad_target_free(&t);
    rad_target_free(&again);
    rad_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    if (rad_machine_find("fuzz") == NULL) prepare();
    read_case((const char *)data, size);
    for (int edited_ok = 0; edited_ok < 2; edited_ok++) {
        rad_artifact *a = NULL;
        error = (rad_error){0};
        int code = rad__artifact_parse(&a, (const char *)data, size, "input", edited_ok, &error);
        require(code == 0 || (code == RAD_EINPUT && a == NULL && error.text[0] != 0));
        require((code == 0) == (a != NULL));
        if (a != NULL) {
            require(edited_ok || !a->edited);
            write_and_read(a);
        }
        rad_artifact_free(a);
    }
    return 0;
}
