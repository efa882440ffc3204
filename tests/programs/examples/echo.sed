# The server closes its socket when its clients have been started, not when they have ended.
/^    int failed = rad_nursery_wait(&n);/{
N
s/\(.*\)\n\(.*\)/\2\n\1/
}
s/CLIENTS = 100, MESSAGES = 50/CLIENTS = 2, MESSAGES = 1/
