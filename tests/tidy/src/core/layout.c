static int a;
	static int b; /* expect: layout */
static int c; /* expect: layout */ 
static int d; /* expect: layout */
static int e; /* expect: layout */