# A subscriber leaves when nothing is there after the last message but one; the last one may be on its way.
s/while (rad_recv(s->inbox, &message, RAD_FOREVER) == 0)/while ((s->last < MESSAGES - 1 || rad_chan_count(s->inbox) > 0) \&\& rad_recv(s->inbox, \&message, RAD_FOREVER) == 0)/
s/MESSAGES = 200/MESSAGES = 4/
