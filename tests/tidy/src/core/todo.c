/* TODO: later. expect: todo */
static int x; // XXX expect: todo
static const char template[] = "fileXXXXXX";
