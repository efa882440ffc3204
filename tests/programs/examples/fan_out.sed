# The channel has no room, and the two answers that are enough come at the same time: a send does not wait.
s/sizeof(int), REPLICAS,/sizeof(int), 0,/
s/(uint64_t)(i + 1) \* 5 \* MS/(uint64_t)5 * MS/
