# A client looks whether there is a permit, and then takes it: another one may be quicker.
s/return rad_recv(l->permits, NULL, until);/while (rad_chan_count(l->permits) == 0) rad_sleep(l->every_ns);\n    return until == 0 ? RAD_ETIMEOUT : rad_recv(l->permits, NULL, 0);/
s/BURST = 10, CLIENTS = 5, EACH = 12/BURST = 2, CLIENTS = 3, EACH = 2/
