/* edit_machines.c — ten machines with a bug, and what was edited in them since. */
#include "edit_support.h"

/* The sites have lines, as those of real code. */
#define INC(line) "load n r0 @read (n.c:" line "0); add r0 1; store n r0 @write (n.c:" line "1)"

/* What it reads is wrong in the third mode only. */
#define READER(ready, data)                                                                                            \
    "load ready r0 " ready "; jz r0 end; load mode r2; add r2 -2; jnz r2 end; load data r1 " data "; claim r1 7 data"

const edited_machine edited_machines[EDITED_MACHINES] = {
    {"edit-counter",
     {{"",
       "",
       true,
       {{"main", "spawn 1; spawn 2; join 1 2; load n r0 @sum; claim r0 2 sum", false},
        {"worker", INC("1"), true},
        {"worker", INC("1"), true}}},
      {"lines added: other lines and numbers, another object first",
       "still fails",
       true,
       {{"main", "store unused 0 @first; spawn 1; spawn 2; join 1 2; load n r0 @sum; claim r0 2 sum", false},
        {"worker", INC("2"), true},
        {"worker", INC("2"), true}}},
      {"bug fixed: a lock",
       "gone",
       false,
       {{"main", "spawn 1; spawn 2; join 1 2; load n r0 @sum; claim r0 2 sum", false},
        {"worker", "lock m; " INC("1") "; unlock m", true},
        {"worker", "lock m; " INC("1") "; unlock m", true}}},
      {"bug fixed: one atomic operation instead of two",
       "gone",
       false,
       {{"main", "spawn 1; spawn 2; join 1 2; load n r0 @sum; claim r0 2 sum", false},
        {"worker", "fadd n 1 r0", true},
        {"worker", "fadd n 1 r0", true}}}}},
    {"edit-event",
     {{"",
       "",
       true,
       {{"waiter", "load flag r0; jnz r0 end; lock m; wait c m; unlock m", false},
        {"setter", "store flag 1; lock m @set lock; signal c; unlock m @set unlock", false}}},
      {"a step added, in front and in the middle",
       "still fails",
       true,
       {{"waiter", "store log 1 @enter; load flag r0; jnz r0 end; lock m; wait c m; unlock m", false},
        {"setter", "store flag 1; store log 2 @has set; lock m @set lock; signal c; unlock m @set unlock", false}}},
      {"bug fixed: the flag is read under the lock",
       "gone",
       false,
       {{"waiter", "lock m; load flag r0; jnz r0 out; wait c m; :out; unlock m", false},
        {"setter", "store flag 1; lock m @set lock; signal c; unlock m @set unlock", false}}}}},
    {"edit-locks",
     {{"",
       "",
       true,
       {{"thread", "lock a; lock b; unlock b; unlock a", false},
        {"thread", "lock b @b first; lock a @then a; unlock a; unlock b", false}}},
      {"an actor added, of the same role, in front of the others",
       "still fails",
       true,
       {{"thread", "store log 1; store log 2; store log 3", false},
        {"thread", "lock a; lock b; unlock b; unlock a", false},
        {"thread", "lock b @b first; lock a @then a; unlock a; unlock b", false}}},
      {"bug fixed: one order of locks",
       "gone",
       false,
       {{"thread", "lock a; lock b; unlock b; unlock a", false},
        {"thread", "lock a @then a; lock b @b first; unlock b; unlock a", false}}}}},
    {"edit-bank",
     {{"",
       "",
       true,
       {{"clerk",
         "lock m; load money r0; unlock m; jz r0 end; lock m @to move; load money r1 @again; add "
         "r1 -1;"
         "store money r1; unlock m @moved; claim r1 0 overdrawn",
         false},
        {"clerk",
         "lock m; load money r0; unlock m; jz r0 end; lock m @to move; load money r1 @again; add "
         "r1 -1;"
         "store money r1; unlock m @moved; claim r1 0 overdrawn",
         false},
        {"boss", "lock m @boss; store money 1 @pay; unlock m @boss out", false}}},
      {"a lock moved: it begins after the look",
       "still fails",
       true,
       {{"clerk",
         "load money r0; jz r0 end; lock m @to move; load money r1 @again; add r1 -1;"
         "store money r1; unlock m @moved; claim r1 0 overdrawn",
         false},
        {"clerk",
         "load money r0; jz r0 end; lock m @to move; load money r1 @again; add r1 -1;"
         "store money r1; unlock m @moved; claim r1 0 overdrawn",
         false},
        {"boss", "lock m @boss; store money 1 @pay; unlock m @boss out", false}}},
      {"bug fixed: a lock moved, over look and move",
       "gone",
       false,
       {{"clerk",
         "lock m; load money r0; jz r0 out; load money r1 @again; add r1 -1;"
         "store money r1; claim r1 0 overdrawn; :out; unlock m @moved",
         false},
        {"clerk",
         "lock m; load money r0; jz r0 out; load money r1 @again; add r1 -1;"
         "store money r1; claim r1 0 overdrawn; :out; unlock m @moved",
         false},
        {"boss", "lock m @boss; store money 1 @pay; unlock m @boss out", false}}}}},
    {"edit-publish",
     {{"",
       "",
       true,
       {{"writer", "pick 3 r4; store mode r4; store ready 1; store data 7", false}, {"reader", READER("", ""), false}}},
      {"sites renamed, and a step added",
       "still fails",
       true,
       {{"writer",
         "store log 1 @begin; pick 3 r4 @which mode; store mode r4; store ready 1 @announce; store "
         "data 7 @fill",
         false},
        {"reader", READER("@is it ready", "@use it"), false}}},
      {"bug fixed: the other order",
       "gone",
       false,
       {{"writer", "pick 3 r4; store mode r4; store data 7; store ready 1", false}, {"reader", READER("", ""), false}}},
      {"a choice inside a step has fewer values: not known",
       "diverged",
       false,
       {{"writer", "pick 2 r4; store mode r4; store ready 1; store data 7", false},
        {"reader", READER("", ""), false}}}}},
    {"edit-wake",
     {{"",
       "",
       true,
       {{"eater",
         "lock m; :again; load food r0; jnz r0 eat; wait c m; jmp again; :eat; store food 0; "
         "unlock m",
         false},
        {"cook",
         "lock m @cook; :again; load order r0; jnz r0 go; wait c m @cook waits; jmp again; :go;"
         "store food 1; unlock m @cook done",
         false},
        {"guest",
         "lock m @guest; store order 1; signal c; unlock m @guest out; lock m @back; load food r1 "
         "@see;"
         "signal c @again; unlock m @bye",
         false}}},
      {"a step added where the others wait",
       "still fails",
       true,
       {{"eater",
         "lock m; :again; load food r0; jnz r0 eat; store log 1 @no food; wait c m; jmp again; "
         ":eat;"
         "store food 0; unlock m",
         false},
        {"cook",
         "lock m @cook; :again; load order r0; jnz r0 go; wait c m @cook waits; jmp again; :go;"
         "store food 1; unlock m @cook done",
         false},
        {"guest",
         "lock m @guest; store order 1; signal c; unlock m @guest out; lock m @back; load food r1 "
         "@see;"
         "signal c @again; unlock m @bye",
         false}}},
      {"bug fixed: all are woken, and the cook wakes the eater",
       "gone",
       false,
       {{"eater",
         "lock m; :again; load food r0; jnz r0 eat; wait c m; jmp again; :eat; store food 0; "
         "unlock m",
         false},
        {"cook",
         "lock m @cook; :again; load order r0; jnz r0 go; wait c m @cook waits; jmp again; :go;"
         "store food 1; broadcast c @served; unlock m @cook done",
         false},
        {"guest",
         "lock m @guest; store order 1; broadcast c @signal c; unlock m @guest out; lock m @back; "
         "load food r1 @see;"
         "broadcast c @again; unlock m @bye",
         false}}}}},
    {"edit-crash",
     {{"",
       "",
       true,
       {{"user",
         "load ready r0; jnz r0 use; store ready 1; store pointer 1; :use; load pointer r1; follow "
         "x r1",
         false},
        {"user",
         "load ready r0; jnz r0 use; store ready 1; store pointer 1; :use; load pointer r1; follow "
         "x r1",
         false}}},
      {"steps added; a run that kills its process",
       "still fails",
       true,
       {{"user",
         "store log 1; load ready r0; jnz r0 use; store ready 1; store log 2; store pointer 1; "
         ":use;"
         "load pointer r1; follow x r1",
         false},
        {"user",
         "store log 1; load ready r0; jnz r0 use; store ready 1; store log 2; store pointer 1; "
         ":use;"
         "load pointer r1; follow x r1",
         false}}},
      {"bug fixed: ready is written last",
       "gone",
       false,
       {{"user",
         "load ready r0; jnz r0 use; store pointer 1; store ready 1; :use; load pointer r1; follow "
         "x r1",
         false},
        {"user",
         "load ready r0; jnz r0 use; store pointer 1; store ready 1; :use; load pointer r1; follow "
         "x r1",
         false}}}}},
    {"edit-spawn",
     {{"",
       "",
       true,
       {{"main", "spawn 1; spawn 2; load done r2 @look", false},
        {"worker", "store a 1; store b 1", true},
        {"worker", "load b r0; load a r1; jz r1 end; claim r0 1 order", true}}},
      {"the order of spawning changed",
       "still fails",
       true,
       {{"main", "spawn 1; spawn 2; load done r2 @look", false},
        {"worker", "load b r0; load a r1; jz r1 end; claim r0 1 order", true},
        {"worker", "store a 1; store b 1", true}}},
      {"bug fixed: the second waits for the first",
       "gone",
       false,
       {{"main", "spawn 1; join 1 1; spawn 2; load done r2 @look", false},
        {"worker", "store a 1; store b 1", true},
        {"worker", "load b r0; load a r1; jz r1 end; claim r0 1 order", true}}}}},
    {"edit-loop",
     {{"",
       "",
       true,
       {{"adder", "set r5 3; :next; store log 1; load n r0; add r0 1; store n r0; add r5 -1; jnz r5 next", false},
        {"taker",
         "load n r1 @look; jz r1 end; load n r2 @take; add r2 -1; store n r2 @taken; load n r3 "
         "@check;"
         "claim r3 r2 kept",
         false}}},
      {"a step removed, in a loop",
       "still fails",
       true,
       {{"adder", "set r5 3; :next; load n r0; add r0 1; store n r0; add r5 -1; jnz r5 next", false},
        {"taker",
         "load n r1 @look; jz r1 end; load n r2 @take; add r2 -1; store n r2 @taken; load n r3 "
         "@check;"
         "claim r3 r2 kept",
         false}}},
      {"another way taken, before the recorded choice: not known",
       "diverged",
       true,
       {{"adder", "set r5 3; :next; store log 1; load n r0; add r0 1; store n r0; add r5 -1; jnz r5 next", false},
        {"taker",
         "load n r1 @look; jz r1 end; add r1 -2; jnz r1 end; load n r2 @take; add r2 -1; store n "
         "r2 @taken;"
         "load n r3 @check; claim r3 r2 kept",
         false}}},
      {"it fails in another way",
       "fails differently",
       true,
       {{"adder", "set r5 3; :next; store log 1; load n r0; add r0 1; store n r0; add r5 -1; jnz r5 next", false},
        {"taker",
         "load n r1 @look; jz r1 end; load n r2 @take; add r2 -1; store n r2 @taken; load n r3 "
         "@check;"
         "claim r3 r2 other",
         false}}}}},
    {"edit-spin",
     {{"",
       "",
       true,
       {{"user",
         ":spin; load held r0; jnz r0 spin; store held 1; fadd inside 1 r1; claim r1 0 alone; fadd "
         "inside -1 r1"
         "@out; store held 0 @free",
         false},
        {"user",
         ":spin; load held r0; jnz r0 spin; store held 1; fadd inside 1 r1; claim r1 0 alone; fadd "
         "inside -1 r1"
         "@out; store held 0 @free",
         false}}},
      {"a step added in a loop that spins",
       "still fails",
       true,
       {{"user",
         ":spin; yield; load held r0; jnz r0 spin; store held 1; fadd inside 1 r1; claim r1 0 "
         "alone;"
         "fadd inside -1 r1 @out; store held 0 @free",
         false},
        {"user",
         ":spin; yield; load held r0; jnz r0 spin; store held 1; fadd inside 1 r1; claim r1 0 "
         "alone;"
         "fadd inside -1 r1 @out; store held 0 @free",
         false}}},
      {"bug fixed: look and take in one operation",
       "gone",
       false,
       {{"user",
         ":spin; cas held 0 1 r0; jnz r0 in; fadd tries 1 r2; jmp spin; :in; fadd inside 1 r1; "
         "claim r1 0 alone; fadd inside -1 "
         "r1 @out;"
         "store held 0 @free",
         false},
        {"user",
         ":spin; cas held 0 1 r0; jnz r0 in; fadd tries 1 r2; jmp spin; :in; fadd inside 1 r1; "
         "claim r1 0 alone; fadd inside -1 "
         "r1 @out;"
         "store held 0 @free",
         false}}}}},
};
