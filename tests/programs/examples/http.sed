# The signal that ends the server comes before its clients have ended.
/^    int failed = rad_nursery_wait(&n);/{
N
s/\(.*\)\n\(.*\)/\2\n\1/
}
s/EACH = 30, KINDS = .*/EACH = 1, KINDS = 2 };/
