# A job is counted in two steps, with a call in between: two workers may count one job.
s/atomic_fetch_add(&p->done, 1);/uint64_t done = p->done; rad_yield(); p->done = done + 1;/
s/JOBS = 300/JOBS = 9/
