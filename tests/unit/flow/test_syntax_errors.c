/* test_syntax_errors.c — what people write wrongly in flow files, and what they are told: the place, what was
 * expected, what was found, and the name that was probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"
#include "tree_support.h"

#include <string.h>

/* ---- Characters and files ------------------------------------------------------------------------------ */

static const flow_mistake in_files[] = {
    {"", "test:1:1: expected 'flow', found the end of the file"},
    {"# nothing\n", "test:2:1: expected 'flow', found the end of the file"},
    {"flw f { finish }", "test:1:1: expected 'flow', found 'flw'; did you mean 'flow'?"},
    {"flow f { finish } }", "test:1:19: expected 'flow', found '}'"},
    {"flow { finish }", "test:1:6: expected the name of the flow, found '{'"},
    {"flow 3 { finish }", "test:1:6: expected the name of the flow, found '3'"},
    {"flow f finish }", "test:1:8: expected '{' or what the flow is about, a text, found 'finish'"},
    {"flow f \"about\" finish }", "test:1:16: expected '{', found 'finish'"},
    {"flow f { finish", "test:1:16: expected a statement, 'data', 'task' or '}', found the end of the file"},
    {"flow f { par { finish", "test:1:22: expected a statement or '}', found the end of the file"},
    {"flow f { }", "test:1:10: flow 'f' has no statement"},
    {"flow f { data { n : int } }", "test:1:27: flow 'f' has no statement"},
    {"flow f { finish } flow g { finish }\nflow f { finish }", "test:2:6: there is a flow 'f' already, in line 1"},
    {"flow f { \x01 }", "test:1:10: expected a statement, 'data', 'task' or '}', found the byte 0x01"},
    {"flow f { \xff }", "test:1:10: expected a statement, 'data', 'task' or '}', found the byte 0xff"},
    {"flow f { @ }", "test:1:10: expected a statement, 'data', 'task' or '}', found '@'"},
    {"flow f { \"x\" }", "test:1:10: expected a statement, 'data', 'task' or '}', found a text"},
    {"flow f { 3 }", "test:1:10: expected a statement, 'data', 'task' or '}', found '3'"},
    {"flow f { fail \"x }\n\" }", "test:1:15: the text does not end on its line: expected '\"'"},
    {"flow f { fail \"x", "test:1:15: the text does not end on its line: expected '\"'"},
    {"flow f { fail \"x\\", "test:1:15: the text does not end on its line: expected '\"'"},
    {"flow f { fail \"ab\\q\" }", "test:1:18: expected \\\", \\\\, \\n or \\t in the text"},
    {"flow f { fail \"a\xff\" }", "test:1:17: the text is not UTF-8"},
    {"flow f { fail \"a\xc3\" }", "test:1:17: the text is not UTF-8"},
    {"flow aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa { }",
     "test:1:6: a name has 60 characters at most"},
    {IN_FLOW("set n = 9223372036854775808"), "test:2:9: the number is too large"},
    {IN_FLOW("set n = -9223372036854775809"), "test:2:10: the number is too large"},
    {IN_FLOW("set n = 99999999999999999999999999"), "test:2:9: the number is too large"},
};

static void files_and_characters(void **state)
{
    (void)state;
    FLOW_MISTAKES(in_files);
    static const char zero[] = "flow f { \0 }", zero_in_text[] = "flow f { fail \"a\0b\" }";
    flow_tree_refused(zero, sizeof zero - 1,
                      "test:1:10: expected a statement, 'data', 'task' or '}', found the byte 0x00");
    flow_tree_refused(zero_in_text, sizeof zero_in_text - 1, "test:1:17: the text has a byte 0 in it");
}

/* ---- Statements ---------------------------------------------------------------------------------------- */

static const flow_mistake in_statements[] = {
    {IN_FLOW("prar { } and { }"),
     "test:2:1: expected a statement, 'data', 'task' or '}', found 'prar'; did you mean 'par'?"},
    {IN_FLOW("{ prar { } and { } }"), "test:2:3: expected a statement or '}', found 'prar'; did you mean 'par'?"},
    {IN_FLOW("xyzzy"), "test:2:1: expected a statement, 'data', 'task' or '}', found 'xyzzy'"},
    {IN_FLOW("block { }"),
     "test:2:1: expected a statement, 'data', 'task' or '}', found 'block'; did you mean 'lock'?"},
    {IN_FLOW("do"), "test:3:1: expected the name of a task, found '}'"},
    {IN_FLOW("do \"build\""), "test:2:4: expected the name of a task, found a text"},
    {IN_FLOW("{ data { } }"), "test:2:3: 'data' belongs into the flow itself, not into a block"},
    {IN_FLOW("{ task x { } }"), "test:2:3: 'task' belongs into the flow itself, not into a block"},
    {IN_FLOW("run make"), "test:2:5: expected a command, a text, found 'make'"},
    {IN_FLOW("run \"x\" { run \"y\" }"), "test:2:11: expected a property of the task or '}', found 'run'"},
    {IN_FLOW("run \"x\" { do build }"), "test:2:11: expected a property of the task or '}', found 'do'"},
    {IN_FLOW("set n 3"), "test:2:7: expected '=', found '3'"},
    {IN_FLOW("set 3 = n"), "test:2:5: expected the name of a variable, found '3'"},
    {IN_FLOW("set n ="), "test:3:1: expected an expression, found '}'"},
    {IN_FLOW("par { }"), "test:3:1: expected 'and' and another block, found '}'"},
    {IN_FLOW("par { } or { }"), "test:2:9: expected 'and' and another block, found 'or'"},
    {IN_FLOW("par do build"), "test:2:5: expected '{', found 'do'"},
    {IN_FLOW("interleave { }"), "test:3:1: expected 'and' and another block, found '}'"},
    {IN_FLOW("xor { }"), "test:2:7: expected 'when' and a condition, found '}'"},
    {IN_FLOW("or { }"), "test:2:6: expected 'when' and a condition, found '}'"},
    {IN_FLOW("xor { else { } }"), "test:2:7: expected 'when' and a condition, found 'else'"},
    {IN_FLOW("xor { whn b { } }"), "test:2:7: expected 'when' and a condition, found 'whn'; did you mean 'when'?"},
    {IN_FLOW("xor { when b { } do build }"), "test:2:18: expected 'when', 'else' or '}', found 'do'"},
    {IN_FLOW("xor { when b { } else { } when b { } }"),
     "test:2:27: expected '}' behind the block of else, found 'when'"},
    {IN_FLOW("xor { when b do build }"), "test:2:14: expected '{', found 'do'"},
    {IN_FLOW("loop { }"), "test:2:6: expected an expression, found '{'"},
    {IN_FLOW("loop 3"), "test:3:1: expected '{', found '}'"},
    {IN_FLOW("repeat { } while b"), "test:2:12: expected 'until' and a condition, found 'while'"},
    {IN_FLOW("repeat { } untill b"),
     "test:2:12: expected 'until' and a condition, found 'untill'; did you mean 'until'?"},
    {IN_FLOW("region { }"), "test:2:8: expected the name of the region, found '{'"},
    {IN_FLOW("region r { } on { }"), "test:2:17: expected 'cancel' or 'failure', found '{'"},
    {IN_FLOW("region r { } on cancle { }"),
     "test:2:17: expected 'cancel' or 'failure', found 'cancle'; did you mean 'cancel'?"},
    {IN_FLOW("region r { } on cancel { } on cancel { }"), "test:2:28: 'on cancel' is given twice"},
    {IN_FLOW("region r { } on failure into { }"), "test:2:30: expected the name of a variable, found '{'"},
    {IN_FLOW("region r { } on failure { } on failure { }"), "test:2:29: 'on failure' is given twice"},
    {IN_FLOW("region r { } on failure { } on failure into t { }"), "test:2:29: 'on failure' is given twice"},
    {IN_FLOW("on cancel { }"), "test:2:1: expected a statement, 'data', 'task' or '}', found 'on'"},
    {IN_FLOW("cancel r"), "test:2:8: expected 'task', 'region' or 'case', found 'r'"},
    {IN_FLOW("cancel task"), "test:3:1: expected the name of a task, found '}'"},
    {IN_FLOW("cancel region"), "test:3:1: expected the name of a region, found '}'"},
    {IN_FLOW("cancel regin r"), "test:2:8: expected 'task', 'region' or 'case', found 'regin'; did you mean 'region'?"},
    {IN_FLOW("many { }"), "test:2:6: expected an expression, found '{'"},
    {IN_FLOW("many 3 up 4 { }"), "test:2:11: expected 'to' and a number, found '4'"},
    {IN_FLOW("many 3 up to n { }"), "test:2:14: expected a number of instances, found 'n'"},
    {IN_FLOW("many 3 up to 0 { }"), "test:2:14: expected a number of instances from 1 to 1000000, found 0"},
    {IN_FLOW("many 3 up to 1000001 { }"), "test:2:14: expected a number of instances from 1 to 1000000, found 1000001"},
    {IN_FLOW("many 3 as { }"), "test:2:11: expected a name for the instance's number or line, found '{'"},
    {IN_FLOW("many 3 as up { }"), "test:2:11: expected a name for the instance's number or line, "
                                  "found 'up', a word of the language"},
    {IN_FLOW("many over t { }"), "test:2:13: expected 'up to' or 'as' and a name for the line, found '{'"},
    {IN_FLOW("many over t up to 3 { }"), "test:2:21: expected 'as' and a name for the line, found '{'"},
    {IN_FLOW("more"), "test:3:1: expected the name of a many, found '}'"},
    {IN_FLOW("reach"), "test:3:1: expected the name of a milestone, found '}'"},
    {IN_FLOW("await 3"), "test:2:7: expected the name of a milestone, found '3'"},
    {IN_FLOW("lock { }"), "test:2:6: expected the name of a lock, found '{'"},
    {IN_FLOW("defer { }"), "test:2:9: expected 'on', found '}'"},
    {IN_FLOW("defer { on sginal x { } }"),
     "test:2:12: expected 'signal' or 'timer', found 'sginal'; did you mean 'signal'?"},
    {IN_FLOW("defer { on timer x { } }"), "test:2:18: expected a duration such as 10s, found 'x'"},
    {IN_FLOW("defer { on timer 3x { } }"), "test:2:19: expected ms, s, m, h or d behind the number, found 'x'"},
    {IN_FLOW("defer { on signal x { } finish }"), "test:2:25: expected 'on' or '}', found 'finish'"},
    {IN_FLOW("defer { on signal { } }"), "test:2:19: expected the name of a signal, found '{'"},
    {IN_FLOW("wait"), "test:3:1: expected 'signal', 'fresh signal' or a duration such as 10s, found '}'"},
    {IN_FLOW("wait go"), "test:2:6: expected 'signal', 'fresh signal' or a duration such as 10s, found 'go'"},
    {IN_FLOW("wait fresh go"), "test:2:12: expected 'signal', found 'go'"},
    {IN_FLOW("wait 1.5"), "test:2:6: a duration is a whole number: 1500ms, not 1.5s"},
    {IN_FLOW("wait 10 s"), "test:2:9: a unit follows its number without a space: 10s"},
    {IN_FLOW("wait 106752d"), "test:2:6: the duration is longer than 106751 days"},
    {IN_FLOW("wait 99999999999999999d"), "test:2:6: the duration is longer than 106751 days"},
    {IN_FLOW("compensate"), "test:3:1: expected the name of a region, found '}'"},
    {IN_FLOW("else { }"), "test:2:1: expected a statement, 'data', 'task' or '}', found 'else'"},
    {IN_FLOW("finish build"), "test:2:8: expected a statement, 'data', 'task' or '}', found 'build'"},
};

static const flow_mistake in_joins[] = {
    {IN_FLOW("join all"), "test:2:1: join belongs to the par, or, or many before it"},
    {IN_FLOW("do build\njoin sync"), "test:3:1: join belongs to the par, or, or many before it"},
    {IN_FLOW("xor { when b { } } join all"), "test:2:20: join belongs to the par, or, or many before it"},
    {IN_FLOW("interleave { } and { } join all"), "test:2:24: join belongs to the par, or, or many before it"},
    {IN_FLOW("par { } and { } join all join all"), "test:2:26: join belongs to the par, or, or many before it"},
    {IN_FLOW("par { } and { } join"), "test:3:1: expected all, first, any, sync, multi or none, found '}'"},
    {IN_FLOW("par { } and { } join frist"), "test:2:22: expected all, first, any, sync, multi or "
                                            "none, found 'frist'; did you mean 'first'?"},
    {IN_FLOW("par { } and { } join first 0"), "test:2:28: expected a count from 1 to 1000000, found 0"},
    {IN_FLOW("par { } and { } join first 3"),
     "test:2:22: expected a count from 1 to 2, the number of branches, found 3"},
    {IN_FLOW("par { } and { } join any 3"), "test:2:22: expected a count from 1 to 2, the number of branches, found 3"},
    {IN_FLOW("par { } and { } join first n"), "test:2:28: expected a statement, 'data', 'task' or '}', found 'n'"},
    {IN_FLOW("or { when b { } else { } } join first 2"),
     "test:2:33: expected a count from 1 to 1, the number of branches, found 2"},
    {IN_FLOW("or { when b { } } join all"),
     "test:2:24: an or has no join all: join sync waits for those that were begun"},
    {IN_FLOW("many 3 { } join sync"), "test:2:17: a many has no join sync: it is for par and or"},
    {IN_FLOW("many 3 { } join multi"), "test:2:17: a many has no join multi: it is for par and or"},
    {IN_FLOW("many 3 { } join any 1000001"), "test:2:21: expected a count from 1 to 1000000, found 1000001"},
};

static void statements_and_joins(void **state)
{
    (void)state;
    FLOW_MISTAKES(in_statements);
    FLOW_MISTAKES(in_joins);
}

/* ---- Data and tasks ------------------------------------------------------------------------------------ */

#define DATA(body) "flow f { finish data {\n" body "\n} }"
#define TASK(body) "flow f { finish data { n : int b : bool t : text } task build {\n" body "\n} }"

static const flow_mistake in_data[] = {
    {"flow f { data x : int }", "test:1:15: expected '{', found 'x'"},
    {DATA("x"), "test:3:1: expected ':' and a type (int, bool, text), found '}'"},
    {DATA("x int"), "test:2:3: expected ':' and a type (int, bool, text), found 'int'"},
    {DATA("x : float"), "test:2:5: expected int, bool or text, found 'float'"},
    {DATA("x : txt"), "test:2:5: expected int, bool or text, found 'txt'; did you mean 'text'?"},
    {DATA("3 : int"), "test:2:1: expected the name of a variable or '}', found '3'"},
    {DATA("true : int"), "test:2:1: expected the name of a variable or '}', found 'true', a word of the language"},
    {DATA("and : int"), "test:2:1: expected the name of a variable or '}', found 'and', a word of the language"},
    {DATA("over : int"), "test:2:1: expected the name of a variable or '}', found 'over', a word of the language"},
    {DATA("x : int ="), "test:3:1: expected a constant: a number, true, false or a text, found '}'"},
    {DATA("x : int = y"), "test:2:11: expected a constant: a number, true, false or a text, found 'y'"},
    {DATA("x : int = true"), "test:2:11: expected a constant of type int for 'x', found one of type bool"},
    {DATA("x : bool = 1"), "test:2:12: expected a constant of type bool for 'x', found one of type int"},
    {DATA("x : text = 1"), "test:2:12: expected a constant of type text for 'x', found one of type int"},
    {DATA("x : int = \"1\""), "test:2:11: expected a constant of type int for 'x', found one of type text"},
    {DATA("x : int = - true"), "test:2:13: expected a number, found 'true'"},
    {DATA("x : int = 1 = 2"), "test:2:13: '=' is given twice"},
    {DATA("x : int merge smu"), "test:2:15: expected a rule: sum, max, min (int), and, or (bool), "
                                "append (text), first or last, found 'smu'; did you mean 'sum'?"},
    {DATA("x : int merge"), "test:3:1: expected a rule: sum, max, min (int), and, or (bool), "
                            "append (text), first or last, found '}'"},
    {DATA("x : bool merge sum"), "test:2:16: there is no merge sum of type bool"},
    {DATA("x : int merge or"), "test:2:15: there is no merge or of type int"},
    {DATA("x : int merge append"), "test:2:15: there is no merge append of type int"},
    {DATA("x : text merge max"), "test:2:16: there is no merge max of type text"},
    {DATA("x : int merge sum merge max"), "test:2:19: 'merge' is given twice"},
    {DATA("x : int in 3"), "test:2:12: expected '{' and constants, found '3'"},
    {DATA("x : int in { }"), "test:2:14: expected a constant: a number, true, false or a text, found '}'"},
    {DATA("x : int in { 1 x }"), "test:2:16: expected a constant: a number, true, false or a text, found 'x'"},
    {DATA("x : int in { 1 true }"), "test:2:16: expected a constant of type int for 'x', found one of type bool"},
    {DATA("x : int in { 1 2 1 }"), "test:2:18: the value is given twice"},
    {DATA("x : int in { 1 } in { 2 }"), "test:2:18: 'in' is given twice"},
    {DATA("x : int\nx : bool"), "test:3:1: there is a variable 'x' already, in line 2"},
};

static const flow_mistake in_tasks[] = {
    {"flow f { finish task { run \"x\" } }", "test:1:22: expected the name of a task, found '{'"},
    {"flow f { finish task x run \"x\" }", "test:1:24: expected '{', found 'run'"},
    {TASK(""), "test:1:57: task 'build' has neither 'run' nor 'call'"},
    {TASK("timeout 3"), "test:1:57: task 'build' has neither 'run' nor 'call'"},
    {TASK("run x"), "test:2:5: expected a command, a text, found 'x'"},
    {TASK("call x"), "test:2:6: expected the name of a function, a text, found 'x'"},
    {TASK("run \"x\" call \"y\""), "test:2:9: a task has either 'run' or 'call', not both"},
    {TASK("call \"x\" run \"y\""), "test:2:10: a task has either 'run' or 'call', not both"},
    {TASK("run \"x\" run \"y\""), "test:2:9: 'run' is given twice"},
    {TASK("run \"x\" timout 3"),
     "test:2:9: expected a property of the task or '}', found 'timout'; did you mean 'timeout'?"},
    {TASK("run \"x\" timeout"), "test:3:1: expected a duration such as 10s, found '}'"},
    {TASK("run \"x\" timeout 0"), "test:2:17: a timeout of 0 leaves no time for anything"},
    {TASK("run \"x\" timeout 3 timeout 4"), "test:2:19: 'timeout' is given twice"},
    {TASK("run \"x\" timeout 3 s"), "test:2:19: a unit follows its number without a space: 3s"},
    {TASK("run \"x\" timeout 3sec"), "test:2:18: expected ms, s, m, h or d behind the number, found 'sec'"},
    {TASK("run \"x\" retry"), "test:3:1: expected the number of further attempts, found '}'"},
    {TASK("run \"x\" retry 1000001"),
     "test:2:15: expected the number of further attempts from 0 to 1000000, found 1000001"},
    {TASK("run \"x\" retry 3 delay"), "test:3:1: expected a duration such as 10s, found '}'"},
    {TASK("run \"x\" retry 3 delay 1 backoff 0"), "test:2:33: expected a factor from 1 to 1000, found 0"},
    {TASK("run \"x\" retry 3 backoff 2"), "test:2:17: expected a property of the task or '}', found 'backoff'"},
    {TASK("run \"x\" dir here"), "test:2:13: expected a directory, a text, found 'here'"},
    {TASK("run \"x\" reads"), "test:3:1: expected the name of a variable, found '}'"},
    {TASK("run \"x\" reads n,"), "test:3:1: expected the name of a variable, found '}'"},
    {TASK("run \"x\" reads m"), "test:2:15: there is no variable 'm'"},
    {TASK("run \"x\" reads n, b, n"), "test:2:21: 'n' is given twice"},
    {TASK("run \"x\" capture"), "test:3:1: expected the name of a variable, found '}'"},
    {TASK("run \"x\" capture m"), "test:2:17: there is no variable 'm'"},
    {TASK("run \"x\" exit"), "test:3:1: expected the name of a variable, found '}'"},
    {TASK("run \"x\" exit b"), "test:2:14: expected an int behind 'exit': 'b' is a bool"},
    {TASK("run \"x\" exit t"), "test:2:14: expected an int behind 'exit': 't' is a text"},
    {TASK("run \"x\" exit m"), "test:2:14: there is no variable 'm'"},
    {TASK("run \"x\" capture n exit n"), "test:2:24: 'n' cannot be both output and exit status"},
    {TASK("run \"x\" writes n"), "test:2:16: a command writes only what it captures, and its exit: 'n' is neither"},
    {TASK("run \"x\" capture t writes t, b"),
     "test:2:29: a command writes only what it captures, and its exit: 'b' is neither"},
    {TASK("call \"x\" writes t, t"), "test:2:20: 't' is given twice"},
    {TASK("call \"x\" capture t"), "test:2:18: 'capture' is for commands: a function has 'writes'"},
    {TASK("call \"x\" exit n"), "test:2:15: 'exit' is for commands: a function has 'writes'"},
    {TASK("call \"x\" dir \"d\""), "test:1:57: 'dir' is for commands, not for functions"},
    {TASK("run \"x\" outcomes"), "test:3:1: expected ok or fail, found '}'"},
    {TASK("run \"x\" outcomes good"), "test:2:18: expected ok or fail, found 'good'"},
    {TASK("run \"x\" outcomes ok, ok"), "test:2:22: the outcome is given twice"},
    {TASK("run \"x\" on_doubt"), "test:3:1: expected stop, retry or probe, found '}'"},
    {TASK("run \"x\" on_doubt stopp"), "test:2:18: expected stop, retry or probe, found 'stopp'; did you mean 'stop'?"},
    {TASK("run \"x\" on_doubt probe"), "test:3:1: expected a command that tells whether it was done, found '}'"},
    {TASK("run \"x\" undo"), "test:3:1: expected the name of a task, found '}'"},
    {TASK("run \"x\" undo biuld"), "test:2:14: there is no task 'biuld'; did you mean 'build'?"},
    {TASK("run \"x\" } task build { run \"y\""), "test:2:16: there is a task 'build' already, in line 1"},
    {"flow f { run \"x\"\ntask run_1 { run \"y\" } }", "test:2:6: there is a task 'run_1' already, in line 1"},
};

static void data_and_tasks(void **state)
{
    (void)state;
    FLOW_MISTAKES(in_data);
    FLOW_MISTAKES(in_tasks);
}

/* ---- Names --------------------------------------------------------------------------------------------- */

static const flow_mistake in_names[] = {
    {IN_FLOW("do bild"), "test:2:4: there is no task 'bild'; did you mean 'build'?"},
    {IN_FLOW("do xyzzy"), "test:2:4: there is no task 'xyzzy'"},
    {IN_FLOW("cancel task biuld"), "test:2:13: there is no task 'biuld'; did you mean 'build'?"},
    {IN_FLOW("cancel region r"), "test:2:15: there is no region 'r'"},
    {IN_FLOW("region area { } cancel region aera"), "test:2:31: there is no region 'aera'; did you mean 'area'?"},
    {IN_FLOW("compensate r"), "test:2:12: there is no region 'r'"},
    {IN_FLOW("compensate build"), "test:2:12: there is no region 'build'"},
    {IN_FLOW("region r { } region r { }"), "test:2:21: there is a region 'r' already"},
    {IN_FLOW("region r { region r { } }"), "test:2:19: there is a region 'r' already"},
    {IN_FLOW("set m = 1"), "test:2:5: there is no variable 'm'"},
    {IN_FLOW("set n = m"), "test:2:9: there is no variable 'm'"},
    {IN_FLOW("set n = build"), "test:2:9: there is no variable 'build'"},
    {"flow f { data { counter : int } set couter = 1 }",
     "test:1:37: there is no variable 'couter'; did you mean 'counter'?"},
    {IN_FLOW("wait signal s into m"), "test:2:20: there is no variable 'm'"},
    {IN_FLOW("defer { on signal s into m { } }"), "test:2:26: there is no variable 'm'"},
    {IN_FLOW("region r { } on failure into m { }"), "test:2:30: there is no variable 'm'"},
    {IN_FLOW("many 2 as n { }"), "test:2:11: there is a variable 'n' already, in line 1"},
    {"flow f { data { RADDLE_EFFECT_ID : text } finish }",
     "test:1:17: 'RADDLE_EFFECT_ID': variables that begin with RADDLE_ are set by the runner"},
    {IN_FLOW("many 2 as RADDLE_CASE { }"),
     "test:2:11: 'RADDLE_CASE': variables that begin with RADDLE_ are set by the runner"},
    {IN_FLOW("many 2 as i { many 3 as i { } }"), "test:2:25: 'i' belongs to a many around this one already"},
    {IN_FLOW("many 2 as i { } many over t as i { }"),
     "test:2:32: 'i' is a text here and an int in line 2: call it something else"},
    {IN_FLOW("many 2 as i { set i = 1 }"), "test:2:19: 'i' belongs to the many of line 2 and cannot be set"},
    {IN_FLOW("many 2 as i { run \"x\" { capture i } }"),
     "test:2:33: 'i' belongs to the many of line 2 and cannot be set"},
    {IN_FLOW("many 2 as i { wait signal s into i }"), "test:2:34: 'i' belongs to the many of line 2 and cannot be set"},
    {IN_FLOW("many over t as l { region r { } on failure into l { } }"),
     "test:2:49: 'l' belongs to the many of line 2 and cannot be set"},
    {IN_FLOW("many 2 as i { }\nset n = i"), "test:3:9: 'i' is known only inside the many of line 2"},
    {IN_FLOW("many i as i { }"), "test:2:6: 'i' is known only inside the many of line 2"},
    {IN_FLOW("more p"), "test:2:6: there is no many 'p' around this more"},
    {IN_FLOW("many p 2 up to 3 { } more p"), "test:2:27: there is no many 'p' around this more"},
    {IN_FLOW("many q 2 up to 3 { more p }"), "test:2:25: there is no many 'p' around this more"},
    {IN_FLOW("many 2 up to 3 { more p }"), "test:2:23: there is no many 'p' around this more"},
    {IN_FLOW("many p 2 { more p }"), "test:2:17: 'more' needs a limit: write 'up to N' on the many at line 2"},
    {IN_FLOW("many p 2 up to 3 { many p 2 { more p } }"),
     "test:2:36: 'more' needs a limit: write 'up to N' on the many at line 2"},
};

/* ---- Types --------------------------------------------------------------------------------------------- */

static const flow_mistake in_types[] = {
    {IN_FLOW("set n = b"), "test:2:9: expected an int for 'n', found a bool"},
    {IN_FLOW("set b = n + 1"), "test:2:11: expected a bool for 'b', found an int"},
    {IN_FLOW("set t = n"), "test:2:9: expected a text for 't', found an int"},
    {IN_FLOW("xor { when n { } }"), "test:2:12: expected a bool behind 'when', found an int"},
    {IN_FLOW("or { when t { } }"), "test:2:11: expected a bool behind 'when', found a text"},
    {IN_FLOW("while n { }"), "test:2:7: expected a bool behind 'while', found an int"},
    {IN_FLOW("repeat { } until t"), "test:2:18: expected a bool behind 'until', found a text"},
    {IN_FLOW("loop b { }"), "test:2:6: expected an int behind 'loop', found a bool"},
    {IN_FLOW("many t { }"), "test:2:6: expected an int behind 'many', found a text"},
    {IN_FLOW("many over n as l { }"), "test:2:11: expected a text behind 'over', found an int"},
    {IN_FLOW("region r { } on failure into n { }"), "test:2:30: expected a text behind 'into': 'n' is an int"},
    {IN_FLOW("set b = not n"), "test:2:13: expected a bool behind 'not', found an int"},
    {IN_FLOW("set n = -b"), "test:2:10: expected an int behind '-', found a bool"},
    {IN_FLOW("set b = n or b"), "test:2:9: expected a bool before 'or', found an int"},
    {IN_FLOW("set b = b and n"), "test:2:15: expected a bool behind 'and', found an int"},
    {IN_FLOW("set b = n == b"), "test:2:14: expected an int behind '==', found a bool"},
    {IN_FLOW("set b = t != n"), "test:2:14: expected a text behind '!=', found an int"},
    {IN_FLOW("set b = b < b"), "test:2:9: expected an int or a text before '<', found a bool"},
    {IN_FLOW("set b = n < t"), "test:2:13: expected an int behind '<', found a text"},
    {IN_FLOW("set n = b + n"), "test:2:9: expected an int or a text before '+', found a bool"},
    {IN_FLOW("set n = n + t"), "test:2:13: expected an int behind '+', found a text"},
    {IN_FLOW("set t = t + n"), "test:2:13: expected a text behind '+', found an int"},
    {IN_FLOW("set n = t - 1"), "test:2:9: expected an int before '-', found a text"},
    {IN_FLOW("set n = 1 * t"), "test:2:13: expected an int behind '*', found a text"},
    {IN_FLOW("set n = b / 1"), "test:2:9: expected an int before '/', found a bool"},
    {IN_FLOW("set n = 1 % b"), "test:2:13: expected an int behind '%', found a bool"},
    {IN_FLOW("set n = lines(n)"), "test:2:15: expected a text in 'lines', found an int"},
    {IN_FLOW("set t = line(n, 1)"), "test:2:14: expected a text in 'line', found an int"},
    {IN_FLOW("set t = line(t, t)"), "test:2:17: expected an int as the number of 'line', found a text"},
    {IN_FLOW("set n = number(n)"), "test:2:16: expected a text in 'number', found an int"},
    {IN_FLOW("set t = text(t)"), "test:2:14: expected an int or a bool in 'text', found a text"},
    {IN_FLOW("set n = length(b)"), "test:2:16: expected a text in 'length', found a bool"},
    {IN_FLOW("set n = n +"), "test:3:1: expected an expression, found '}'"},
    {IN_FLOW("set n = (n"), "test:3:1: expected ')' or an operator, found '}'"},
    {IN_FLOW("set n = n)"), "test:2:10: expected a statement, 'data', 'task' or '}', found ')'"},
    {IN_FLOW("set n = lenght(t)"), "test:2:9: expected lines, line, number, text or length before "
                                   "'(', found 'lenght'; did you mean 'length'?"},
    {IN_FLOW("set n = frob(t)"), "test:2:9: expected lines, line, number, text or length before '(', found 'frob'"},
    {IN_FLOW("set n = length t"), "test:2:16: expected a statement, 'data', 'task' or '}', found 't'"},
    {IN_FLOW("set t = line(t)"), "test:2:15: expected ',' and the number of the line, found ')'"},
    {IN_FLOW("set n = length(t, 1)"), "test:2:17: expected ')', found ','"},
    {IN_FLOW("set b = 1 < 2 < 3"), "test:2:15: comparisons cannot be chained: write a < b and b < c"},
    {IN_FLOW("set b = n == n == b"), "test:2:16: comparisons cannot be chained: write a < b and b < c"},
    {IN_FLOW("set b = and"), "test:2:9: expected an expression, found 'and', a word of the language"},
    {IN_FLOW("set b = b and and b"), "test:2:15: expected an expression, found 'and', a word of the language"},
    {IN_FLOW("set b = n = 3"), "test:2:11: expected a statement, 'data', 'task' or '}', found '='"},
    {IN_FLOW("set b = ! b"), "test:2:9: expected an expression, found '!'"},
};

static void names_and_types(void **state)
{
    (void)state;
    FLOW_MISTAKES(in_names);
    FLOW_MISTAKES(in_types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_characters),
        cmocka_unit_test(statements_and_joins),
        cmocka_unit_test(data_and_tasks),
        cmocka_unit_test(names_and_types),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
