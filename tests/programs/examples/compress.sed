# Two fibers read the file: what is read first need not be sent first.
s/^    rad_nursery_go(&n, read_all, j);/&\n&/
s/LINES = 60000/LINES = 5000/
