/* test_mistakes.c — what people write wrongly, and files that were made to do harm: each gets its answer, with
 * the place, in a moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct mistake {
    const char *text, *said;
} mistakes[] = {
    {"protocol P { roles A, B\nA -> B: "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa }",
     "test:2:9: a name has 60 characters at most"},
    {"protocol P { roles A, B\nfor i in 1..99999999999999999999 { A -> B: x } }", "test:2:13: the number is too large"},
    {"protocol P { roles A, B\nfor i in 1..3000000000 { A -> B: x } }", "test:2:13: the number is too large"},
    {"protocol P { roles A, B\nA -> B: x(price: float) }", "test:2:18: expected int, bool or text, found 'float'"},
    {"protocol P { roles A, B\nA -> B: x(int: int) }", "test:2:14: expected ',' or ')', found ':'"},
    {"protocol P { roles A, B\nA -> B: x(a:: int) }", "test:2:13: expected int, bool or text, found ':'"},
    {"protocol P { roles A, B\nA -> B: x(int,int,int,int,int,int,int,int,int) }",
     "test:2:43: a message has 8 fields at most"},
    {"protocol P { roles A, B\nA -> B: x(int }", "test:2:15: expected ',' or ')', found '}'"},
    {"protocol P { roles A, B\nA -> B x }", "test:2:8: expected ':' and a message, found 'x'"},
    {"protocol P { roles A, B\nA -> : x }", "test:2:6: expected the name of a role, found ':'"},
    {"protocol P { roles A, B\nA B: x }", "test:2:3: expected '->' or 'does', found 'B'"},
    {"protocol P { roles A, B\nA does }", "test:2:8: expected what it does, a name, found '}'"},
    {"protocol P { roles A, B\nA -> B: at }", "test:2:9: expected the name of a message, found "
                                              "'at', a word of the language that cannot be a name"},
    {"protocol P { roles A, B\nA does loop }",
     "test:2:8: expected what it does, a name, found 'loop', a word of the language that cannot be "
     "a name"},
    {"protocol code { roles A A does x }", "test:1:10: expected the name of the protocol, found "
                                           "'code', a word of the language that cannot be a name"},
    {"protocol P { roles A, B\nfor or in 1..2 { A -> B: x } }",
     "test:2:5: expected a name, found 'or', a word of the language that cannot be a name"},
    {"protocol P { roles A, B\nA -> B: x(choice: int) }",
     "test:2:11: expected int, bool, text, or a field's name, found 'choice', a word of the "
     "language that cannot be a name"},
    {"protocol P { roles A, B\nA[ -> B: x }", "test:2:4: expected a number or the name of a 'for', found '->'"},
    {"protocol P { roles A, B\nA[1 -> B: x }", "test:2:5: expected ']', found '->'"},
    {"protocol P { roles A, B\nA[1..2] -> B: x }", "test:2:4: expected ']', found '..'"},
    {"protocol P { roles A, B\nA[1+] -> B: x }", "test:2:4: expected ']', found '+'"},
    {"protocol P { roles A, B\nA[i -> B: x }", "test:2:5: expected ']', found '->'"},
    {"protocol P { roles A, B\nchoice A { A -> B: x } or { A -> B: y } }",
     "test:2:8: expected 'at' and a role, found 'A'"},
    {"protocol P { roles A, B\nchoice at A { A -> B: x } }", "test:2:27: expected 'or', found '}'"},
    {"protocol P { roles A, B\npar { A -> B: x } }", "test:2:19: expected 'and', found '}'"},
    {"protocol P { roles A, B\npar { A -> B: x } or { A -> B: y } }", "test:2:19: expected 'and', found 'or'"},
    {"protocol P { roles A, B\nloop { A -> B: x } }", "test:2:6: expected a name for the loop, found '{'"},
    {"protocol P { roles A, B\nloop L A -> B: x }", "test:2:8: expected '{', found 'A'"},
    {"protocol P { roles A, B\ncontinue }", "test:2:10: expected the name of a loop, found '}'"},
    {"protocol P { roles A, B\nfor i 1..2 { A -> B: x } }", "test:2:7: expected 'in', found '1'"},
    {"protocol P { roles A, B\nfor i in 1 { A -> B: x } }", "test:2:12: expected '..', found '{'"},
    {"protocol P { roles A, B\nfor i in 1..2 A -> B: x }", "test:2:15: expected '{', found 'A'"},
    {"protocol P { roles A, B\ncall }", "test:2:6: expected the name of a protocol, found '}'"},
    {"protocol P { roles A, B\ncall Q }", "test:2:8: expected '(' and roles, found '}'"},
    {"protocol P { roles A, B\ncall Q() }", "test:2:8: expected the name of a role, found ')'"},
    {"protocol P { roles A, B\ncall Q(A, B }", "test:2:13: expected ',' or ')', found '}'"},
    {"protocol P { roles A, B\ncall Q(W[1..) }", "test:2:13: expected a number or the name of a 'for', found ')'"},
    {"protocol P { roles A, B\nA -> B: x", "test:2:10: expected a statement, 'code' or '}', found the end of the file"},
    {"protocol P { roles A, B\nloop L { A -> B: x",
     "test:2:19: expected a statement or '}', found the end of the file"},
    {"protocol P { A -> B: x }", "test:1:14: expected 'roles', found 'A'"},
    {"protocol P roles A, B }", "test:1:12: expected '{', found 'roles'"},
    {"protocol { roles A, B }", "test:1:10: expected the name of the protocol, found '{'"},
    {"proto P { roles A, B }", "test:1:1: expected 'protocol' or 'locals', found 'proto'"},
    {"", "test:1:1: expected 'protocol' or 'locals', found the end of the file"},
    {"# nothing\n", "test:2:1: expected 'protocol' or 'locals', found the end of the file"},
    {"protocol P { roles A, B\nA -> B: x } }", "test:2:13: expected 'protocol' or 'locals', found '}'"},
    {"protocol P { roles A, B\n\x01"
     " }",
     "test:2:1: expected the name of a role, found the byte 0x01"},
    {"protocol P { roles A, B\n\xc3"
     "\xa9"
     " }",
     "test:2:1: expected the name of a role, found the byte 0xc3"},
    {"protocol P { roles A, B\nA -> B: x \" }", "test:2:11: the text does not end on its line: expected '\"'"},
    {"protocol P { roles A, B\nA -> B: @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ }",
     "test:2:9: expected the name of a message, found '@'"},
    {"protocol P { roles A, B\n{ }", "test:2:1: expected the name of a role, found '{'"},
    {"protocol P { roles A, B\nA -> C: x }", "test:2:6: protocol P has no role C"},
    {"protocol P { roles A, B\nA -> A: x }", "test:2:1: A sends to itself"},
    {"protocol P { roles A, B\nA[1] -> B: x }", "test:2:1: A is one role: expected no index"},
    {"protocol P { roles A, W[1..3]\nA -> W: x }", "test:2:6: W is a family of roles: expected an index, W[1]"},
    {"protocol P { roles A, W[1..3]\nA -> W[0]: x }", "test:2:6: there is no W[0]: the family is W[1..3]"},
    {"protocol P { roles A, W[1..3]\nA -> W[4]: x }", "test:2:6: there is no W[4]: the family is W[1..3]"},
    {"protocol P { roles A, W[1..3]\nfor i in 1..3 { A -> W[i+1]: x } }",
     "test:2:22: there is no W[4]: the family is W[1..3]"},
    {"protocol P { roles A, W[1..3]\nfor i in 1..3 { A -> W[k]: x } }",
     "test:2:24: k is not the name of a 'for' around here"},
    {"protocol P { roles A, W[1..3]\nfor i in 2147483647..2147483647 { A -> W[i+1]: x } }",
     "test:2:42: the number is too large"},
    {"protocol P { roles A, A\nA does x }", "test:1:23: there are two roles called A"},
    {"protocol P { roles A, W[2]\nA does x }", "test:1:23: expected a family, W[1..n]"},
    {"protocol P { roles A, W[i..2]\nA does x }", "test:1:23: the bounds of a family are numbers"},
    {"protocol P { roles A, W[1..k]\nA does x }", "test:1:23: the bounds of a family are numbers"},
    {"protocol P { roles A, W[3..2]\nA does x }", "test:1:23: a family has 1 to 200 roles, not 0"},
    {"protocol P { roles A, W[1..201]\nA does x }", "test:1:23: a family has 1 to 200 roles, not 201"},
    {"protocol P { roles V[1..200], W[1..57]\nV[1] does x }", "test:1:31: a protocol has 256 roles at most"},
    {"protocol P { roles A, B\nloop L { A -> B: x continue L\nA -> B: y } }",
     "test:3:1: nothing can follow a 'continue'"},
    {"protocol P { roles A, B\nloop L { A -> B: x continue M } }", "test:2:29: there is no loop M around here"},
    {"protocol P { roles A, B\nloop L { continue L } }",
     "test:2:10: loop L comes back to its beginning (line 2) without a message"},
    {"protocol P { roles A, B\nloop L { A does x\ncontinue L } }",
     "test:3:1: loop L comes back to its beginning (line 2) without a message"},
    {"protocol P { roles A, B\nloop M { choice at A {\ncontinue M } or { A -> B: z } } }",
     "test:2:22: A chooses, so every branch begins with a message of A"},
    {"protocol P { roles A, B\nloop L { A -> B: y par { A -> B: x\ncontinue L } and { A -> B: z } "
     "} }",
     "test:3:1: a 'continue' does not leave a parallel branch: loop L is outside"},
    {"protocol P { roles A, B\nloop L { par { A -> B: x } and { A -> B: y\nloop M { B -> A: "
     "q\ncontinue L } } } }",
     "test:4:1: a 'continue' does not leave a parallel branch: loop L is outside"},
    {"protocol P { roles A, B\nchoice at B {\nA -> B: x } or { B -> A: y } }",
     "test:3:1: B chooses, so every branch begins with a message of B"},
    {"protocol P { roles A, B\nchoice at A {\n} or { A -> B: y } }",
     "test:2:13: A chooses, so every branch begins with a message of A"},
    {"protocol P { roles A, B\nchoice at A { loop L {\nB -> A: y } } or { A -> B: y } }",
     "test:3:1: A chooses, so every branch begins with a message of A"},
    {"protocol P { roles A, B\nchoice at A { A -> B: y } or {\nA does z A -> B: x } }",
     "test:2:30: A chooses, so every branch begins with a message of A"},
    {"protocol P { roles A, B\nchoice at A { A -> B: x } or {\nA -> B: x } }",
     "test:3:1: the branch of line 2 begins with the same message, x to B"},
    {"protocol P { roles A, B\nchoice at A { A -> B: x } or { choice at A { A -> B: y } or {\nA -> "
     "B: x } } }",
     "test:3:1: the branch of line 2 begins with the same message, x to B"},
    {"protocol P { roles A, B\ncall Q(A, B) }", "test:2:6: there is no protocol Q"},
    {"protocol P { roles A, B\ncall P(A, B) }", "test:2:1: protocol P calls itself: a loop is written 'loop X { \xe2"
                                                "\x80"
                                                "\xa6"
                                                " continue X }'"},
    {"protocol Q { roles A, B call P(A, B) }\nprotocol P { roles A, B\ncall Q(A, B) }",
     "test:3:1: protocol Q calls itself: a loop is written 'loop X { \xe2"
     "\x80"
     "\xa6"
     " continue X }'"},
    {"locals Q { roles A, B local A { } local B { } }\nprotocol P { roles A, B\ncall Q(A, B) }",
     "test:3:6: Q is written role by role and cannot be called"},
    {"protocol Q { roles A, B A -> B: x }\nprotocol P { roles A, B\ncall Q(A) }",
     "test:3:1: protocol Q has 2 roles, not 1"},
    {"protocol Q { roles A, B A -> B: x }\nprotocol P { roles A, B\ncall Q(A, A) }",
     "test:3:11: A would play two roles"},
    {"protocol Q { roles A, B A -> B: x }\nprotocol P { roles A, B\ncall Q(A, C) }",
     "test:3:11: protocol P has no role C"},
    {"protocol Q { roles A, B A -> B: x }\nprotocol P { roles A, B, C\ncall Q(A, B, C) }",
     "test:3:1: protocol Q has 2 roles, not 3"},
    {"protocol Q { roles W[1..2] W[1] -> W[2]: x }\nprotocol P { roles V[1..3]\ncall Q(V[1..3]) }",
     "test:3:1: protocol Q has 2 roles, not 3"},
    {"protocol P { roles A, B\ncall Q(A, B) }\nprotocol Q { roles A, A A does x }",
     "test:3:23: there are two roles called A"},
    {"protocol P { roles A, B\nA -> B: x }\nprotocol P { roles A A does x }",
     "test:3:10: there are two protocols called P"},
    {"locals P { roles A, B\nlocal A { A -> B: x } }", "test:1:8: role B has no part: expected 'local B { \xe2"
                                                       "\x80"
                                                       "\xa6"
                                                       " }'"},
    {"locals P { roles A, B\nlocal A { A -> B: x } local B { A -> B: x }\nlocal A { A -> B: x } }",
     "test:3:7: A has two parts"},
    {"locals P { roles A, B, C\nlocal A { A -> B: x\nB -> C: x } local B { } local C { } }",
     "test:3:1: this is the part of A, which has nothing to do with it here"},
    {"locals P { roles A, B\nlocal A { A -> B: x\nB does d } local B { } }",
     "test:3:1: this is the part of A, which has nothing to do with it here"},
    {"locals P { roles A, B\nA -> B: x }", "test:2:1: expected 'local', 'code' or '}', found 'A'"},
    {"locals P { roles A, B\nlocal C { } local B { } }", "test:2:7: protocol P has no role C"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nC does f } or { A -> B: y\nB -> C: g } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it does f (line 3), in another it "
     "receives g from B (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nA -> C: f } or { A -> B: y\nC does g } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it receives f from A (line 3), in "
     "another it does g (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nA -> C: f } or { A -> B: y\nC -> A: g } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it receives f from A (line 3), in "
     "another it sends g to A (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nC does f } or { A -> B: y\nC -> A: g } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it does f (line 3), in another it "
     "sends g to A (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nC -> A: f } or { A -> B: y\nC -> B: f } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it sends f to A (line 3), in another "
     "it sends f to B (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nA -> C: f } or { A -> B: y\nB -> C: f } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it receives f from A (line 3), in "
     "another it receives f from B (line 4)"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x } or { A -> B: y\nC does f } or { A -> "
     "B: z\nC does g } }",
     "test:2:1: C cannot know which branch was chosen: in one it has nothing more to do, in "
     "another it does f (line 3)"},
    {"protocol P { roles A, B\nA -> B: x\ncode C {\n} }", "test:3:6: protocol P has no role C"},
    {"protocol P { roles A, B\nA -> B: x\ncode A {\n} code A {\n} }", "test:4:8: this role has code already"},
    {"protocol P { roles A, B\nA -> B: x\ncode A\n}", "test:4:1: expected '{', found '}'"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nfrob r1\n} }", "test:4:1: there is no such instruction"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend\n} }", "test:4:1: expected a role"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend r1 x\n} }", "test:4:6: expected a role"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend C x\n} }", "test:4:6: protocol P has no role C"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend A x\n} }", "test:4:6: a role does not send to itself"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend B\n} }", "test:4:1: expected the name of a message"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend B x r16\n} }",
     "test:4:10: there are 16 registers, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend B x r123\n} }",
     "test:4:10: there are 16 registers, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend B x r1 r2\n} }",
     "test:4:13: there are too many operands"},
    {"protocol P { roles A, B\nA -> B: x(int, int)\ncode A {\nsend B x r15\n} }",
     "test:4:1: the fields of this message go beyond r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer r1 { B x -> }\n} }",
     "test:4:1: expected { ROLE MESSAGE -> LABEL, \xe2"
     "\x80"
     "\xa6"
     " }"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer { B x -> l }\n} }",
     "test:4:9: expected a register, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer r1 { B x l m }\n} }",
     "test:4:16: expected '->' and a label"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer r1 { B x -> l }\n} }",
     "test:4:19: there is no such label"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer r1 r16 { B x -> l }\nl: halt\n} }",
     "test:4:10: there are 16 registers, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\noffer r1\n} }",
     "test:4:1: expected { ROLE MESSAGE -> LABEL, \xe2"
     "\x80"
     "\xa6"
     " }"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nchoose B { x -> l, }\nl: halt l: halt\n} "
     "}",
     "test:5:10: expected an instruction, a label or '}', found ':'"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nchoose { x -> l }\n} }",
     "test:4:10: protocol P has no role x"},
    {"protocol P { roles A, B\nA -> B: x(int, int)\ncode B {\nchoose A r15 { x -> l }\nl: halt\n} "
     "}\n",
     "test:4:1: the fields of this message go beyond r15"},
    {"protocol P { roles A, B\nA -> B: x(int, int)\ncode A {\noffer r0 r15 { B x -> l }\nl: "
     "halt\n} }\n",
     "test:4:1: the fields of this message go beyond r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nchoose B {\n} }",
     "test:5:4: expected a statement, 'code' or '}', found the end of the file"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nchoose B { x ->",
     "test:4:16: expected '}', found the end of the file"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset\n} }", "test:4:1: expected a register, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1\n} }",
     "test:4:1: expected a number, true, false or a text"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1 foo\n} }",
     "test:4:8: expected a number, true, false or a text"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1 -\n} }", "test:5:1: expected a number, found '}'"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1 \"abc\n} }",
     "test:4:8: the text does not end on its line: expected '\"'"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1 \"",
     "test:4:8: the text does not end on its line: expected '\"'"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nmove r1\n} }", "test:4:1: expected a register, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nadd r1 r2\n} }", "test:4:1: expected a register, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nadd r1 r2 r3 r4\n} }",
     "test:4:14: there are too many operands"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\njump\n} }", "test:4:1: expected a label"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\njump nowhere\n} }", "test:4:6: there is no such label"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\njumpif r1 nowhere\n} }", "test:4:11: there is no such label"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\njumpif there\n} }",
     "test:4:8: expected a register, r0 to r15"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nopen\n} }", "test:4:1: expected the name of a protocol"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nopen Q\n} }", "test:4:6: there is no such protocol"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\ninvoke\n} }", "test:4:1: expected what is done, a name"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nspawn\n} }",
     "test:4:1: code by hand has no parallel branches"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\njoin\n} }", "test:4:1: code by hand has no parallel branches"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\na: halt\na: halt\n} }", "test:5:1: this label is there twice"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nsend W[i] x\n} }",
     "test:4:8: expected a number: there is no 'for' around code"},
    {"protocol P { roles A, W[1..3]\nA -> W[1]: x\ncode W[i+1] {\n} }",
     "test:3:8: expected a number: there is no 'for' around code"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nhalt",
     "test:4:5: expected an instruction, a label or '}', found the end of the file"},
    {"protocol P { roles A, B\nA -> B: x(int)\ncode A {\nset r1 99999999999999999999\n} }",
     "test:4:8: the number is too large"},
    {"protocol P { roles A, W[1..3]\nA -> W[1]: x\ncode A {\nsend W x\n} }",
     "test:4:6: W is a family of roles: expected an index, W[1]"},
    {"protocol P { roles A, W[1..3]\nA -> W[1]: x\ncode A {\nsend W[4] x\n} }",
     "test:4:6: there is no W[4]: the family is W[1..3]"},
    {"protocol P { roles A, B\nloop L { A -> B: x continue L\ncontinue L } }",
     "test:3:1: nothing can follow a 'continue'"},
    {"protocol P { roles A, B, C\nchoice at A { A -> B: x\nC does f } or { A -> B: y\nB -> C: f } "
     "}",
     "test:2:1: C cannot know which branch was chosen: in one it does f (line 3), in another it "
     "receives f "
     "from B (line 4)"},
    {"protocol P { roles A, B\nP -> A: x }", "test:2:1: protocol P has no role P"},
};

static void every_mistake_is_told_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) session_refused(mistakes[i].text, mistakes[i].said);
}

static void names_have_all_letters(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol AZ_az09 { roles Z, z, _A Z -> z: Z0 z -> _A: z9(a: int) }");
    assert_string_equal(rad_protocol_name(p, 0), "AZ_az09");
    assert_string_equal(rad_protocol_role(p, 0, 2), "_A");
    rad_protocols_free(p);
}

/* Nothing behind the end is read, however a file ends: this is a piece of memory of just that size. */
static void every_beginning_of_a_file_is_read_to_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        size_t size = strlen(mistakes[i].text);
        for (size_t length = 0; length <= size; length++) {
            char *text = malloc(length ? length : 1);
            rad_protocols *p;
            assert_non_null(text);
            memcpy(text, mistakes[i].text, length);
            int status = rad_protocols_parse(&p, "test", text, length, NULL);
            assert_true((status == 0) == (p != NULL));
            rad_protocols_free(p);
            free(text);
        }
    }
}

/* ---- Limits ---------------------------------------------------------------------------------------------- */

/* `count` pieces, with the number of each, between a beginning and an end. */
static char *many(const char *begin, const char *piece, uint32_t count, const char *end)
{
    rad_bytes b = {0};
    rad__bytes_put(&b, begin, strlen(begin));
    for (uint32_t i = 0; i < count; i++) {
        const char *at = piece;
        for (const char *hole; (hole = strchr(at, '%')) != NULL; at = hole + 1) {
            rad__bytes_put(&b, at, (size_t)(hole - at));
            rad__bytes_format(&b, "%u", i);
        }
        rad__bytes_put(&b, at, strlen(at));
    }
    rad__bytes_put(&b, end, strlen(end));
    rad__bytes_put(&b, "", 1);
    assert_false(b.failed);
    return (char *)b.data;
}

/* So many are fine, one more is refused. */
static void at_most(const char *begin, const char *piece, uint32_t count, const char *end, const char *said)
{
    char *text = many(begin, piece, count, end);
    rad_protocols_free(session_parse(text));
    rad__free(text);
    text = many(begin, piece, count + 1, end);
    rad_protocols *p;
    rad_error error;
    assert_int_equal(rad_protocols_parse(&p, "test", text, strlen(text), &error), RAD_EINPUT);
    if (strstr(error.text, said) == NULL) fail_msg("said: %s", error.text);
    rad__free(text);
}

static void limits_are_what_they_are_said_to_be(void **state)
{
    (void)state;
    at_most("protocol P { roles A, B A -> B: a", "a", 59, " }", "a name has 60 characters at most");
    at_most("protocol P { roles A", ", B%", 63, " A does x }", "the list is too long");
    at_most("protocol P { roles A, B choice at A { A -> B: x }", " or { A -> B: y% }", 63, " }",
            "the list is too long");
    at_most("protocol P { roles A, B par { A -> B: x }", " and { A -> B: y% }", 63, " }", "the list is too long");
    at_most("protocol P { roles A, W[1..2", "0", 2, "] A does x }", "a family has 1 to 200 roles");
    at_most("protocol P { roles V[1..200], W[1..50]", ", B%", 6, " B0 does x }", "a protocol has 256 roles at most");
    at_most("protocol P { roles A, B for i in 1..100", "0", 3, " { } A -> B: x }",
            "'for' and 'call' go round too often");
    at_most("protocol P { roles A, B code A {", "l%:\n", 59997, "} }", "there are more than 60000 names and texts");
    at_most("protocol P { roles A, B code A {\n choose B {", " x% -> l,", 42, "}\nl: halt } }",
            "there are too many operands");
    at_most("protocol P { roles A, B par { A -> B: x } and { A -> B: y }\n", "par { A -> B: x } and { A -> B: y }\n",
            1022, " }", "there are more than 4096 threads");
    at_most("protocol P { roles A, B A -> B: x(text) code A {\nset r1 \"x", "aaaaaaaaaaaaaa", 4681, "\"\nsend B x\n} }",
            "a text has 65,535 bytes at most");
}

/* Of statements that no role has a part in, or states would be too many first. */
static void statements_have_a_limit(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        char own[100];
        snprintf(own, sizeof own, "protocol P { roles A, B for i in 1..%u { loop L { } } A -> B: x }", 99999 + more);
        rad_protocols *p;
        rad_error error;
        int status = rad_protocols_parse(&p, "test", own, strlen(own), &error);
        assert_int_equal(status, more ? RAD_EINPUT : 0);
        if (more)
            assert_string_equal(error.text, "test:1:59: written out, the protocol has more than 100000 statements");
        rad_protocols_free(p);
    }
}

static void nested(const char *open, const char *close, uint32_t depth, const char *said)
{
    for (uint32_t more = 0; more < 2; more++) {
        char *begin = many("protocol P { roles A, B ", open, depth + more, "A -> B: x ");
        char *text = many(begin, close, depth + more, "}");
        rad_protocols *p;
        rad_error error;
        int status = rad_protocols_parse(&p, "test", text, strlen(text), &error);
        if (!more && status != 0) fail_msg("%s", error.text);
        if (more && (status == 0 || strstr(error.text, said) == NULL)) fail_msg("%s", error.text);
        rad_protocols_free(p);
        rad__free(begin);
        rad__free(text);
    }
}

static void so_are_those_of_nesting(void **state)
{
    (void)state;
    nested("loop L% { ", "} ", 199, "the blocks are nested too deeply");
    nested("for i% in 1..1 { ", "} ", 32, "'for' is nested too deeply");
    char *callees = many("protocol Q0 { roles A, B A -> B: x }\n", "", 0, "");
    for (uint32_t i = 1; i <= 32; i++) {
        char call[80];
        snprintf(call, sizeof call, "protocol Q%u { roles A, B call Q%u(A, B) }\n", i, i - 1);
        char *longer = many(callees, call, 1, "");
        rad_protocols *p;
        rad_error error;
        int status = rad_protocols_parse(&p, "test", longer, strlen(longer), &error);
        assert_int_equal(status, i < 32 ? 0 : RAD_EINPUT);
        if (status != 0) assert_non_null(strstr(error.text, "calls are nested too deeply"));
        rad_protocols_free(p);
        rad__free(callees);
        callees = longer;
    }
    rad__free(callees);
}

/* ---- Harm -------------------------------------------------------------------------------------------------- */

/* One of 3,600 messages says which branch it is; it took a quarter of a minute to tell them apart. */
static void a_choice_of_thousands_is_read_in_a_moment(void **state)
{
    (void)state;
    rad_bytes b = {0};
    rad__bytes_format(&b, "protocol P { roles A, B, C choice at A {");
    for (uint32_t i = 0; i < 60; i++) {
        rad__bytes_format(&b, "%s A -> B: b%u choice at A {", i ? " } or {" : "", i);
        for (uint32_t k = 0; k < 60; k++)
            rad__bytes_format(&b, "%s A -> B: b%u_%u A -> C: c%u_%u", k ? " } or {" : "", i, k, i, k);
        rad__bytes_format(&b, " }");
    }
    rad__bytes_format(&b, " } }");
    rad__bytes_put(&b, "", 1);
    rad_protocols *p = session_parse((char *)b.data);
    const rad_types *t = &p->all[0].types;
    const rad_local_state *s = &t->states[t->threads[2].start];
    assert_int_equal(s->arm_count, 3600);
    for (uint32_t i = 0; i < 3600; i++) { /* in the order of the text */
        char label[20];
        snprintf(label, sizeof label, "c%u_%u", i / 60, i % 60);
        assert_string_equal(rad__text_of(p, t->arms[s->first_arm + i].label), label);
        assert_int_equal(t->states[t->arms[s->first_arm + i].next].kind, RAD_LOCAL_END);
    }
    rad_protocols_free(p);
    rad__bytes_free(&b);
}

/* Where a role may be, for all it knows, is a set; sets that grow with every step end in an answer, not in all memory
 * there is. */
static void sets_that_grow_without_bound_are_refused(void **state)
{
    (void)state;
    static const char text[] = "protocol P { roles A, B, C loop L { choice at A { A -> B: l1 A -> C: a continue L }\n"
                               "or { A -> B: l2 A -> C: a for i in 1..12000 { A -> C: a } A -> C: fin } } }";
    rad_protocols *p;
    rad_error error;
    assert_int_equal(rad_protocols_parse(&p, "test", text, sizeof text - 1, &error), RAD_EINPUT);
    assert_string_equal(error.text, "test:1:10: the protocol is too large");
}

/* C does things for ever, and nobody waits for it. */
static void who_does_things_for_ever_costs_nothing(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B, C loop L { C does y A -> B: go\n"
                                     "for i in 1..9000 { A -> B: a B -> A: b C does z } continue L } }");
    rad_capacity k;
    assert_int_equal(rad_protocol_capacity(p, 0, 0, 0, &k, NULL), 0);
    assert_int_equal(k.answer, RAD_CAPACITY_SUFFICIENT);
    assert_int_equal(k.states, 36002);
    rad_protocols_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_told_with_its_place),
        cmocka_unit_test(names_have_all_letters),
        cmocka_unit_test(every_beginning_of_a_file_is_read_to_its_end),
        cmocka_unit_test(limits_are_what_they_are_said_to_be),
        cmocka_unit_test(statements_have_a_limit),
        cmocka_unit_test(so_are_those_of_nesting),
        cmocka_unit_test(a_choice_of_thousands_is_read_in_a_moment),
        cmocka_unit_test(sets_that_grow_without_bound_are_refused),
        cmocka_unit_test(who_does_things_for_ever_costs_nothing),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
