/* render_page.h — the parts of the page that are no plots. */
#ifndef RAD_LOAD_REPORT_RENDER_PAGE_H
#define RAD_LOAD_REPORT_RENDER_PAGE_H

#include "load/report/render.h"

/* Everything up to the plots: style, title, what the run was, the figures that matter. */
RAD_INTERNAL void rad__load_page_head(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who);
/* Assertions, requests by name, statuses and errors. */
RAD_INTERNAL void rad__load_page_tables(rad_bytes *to, const rad_load_result *r);

#endif
