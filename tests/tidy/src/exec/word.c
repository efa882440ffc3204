/* The simulator is not known here. expect: word */
static int sim_clock; /* expect: word */
static int simple; /* similar words are harmless */
static const char name[] = "Simulated"; /* expect: word */
/* simulation; expect: word */
