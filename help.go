package main

// usageText is what pitap help says, around the list of commands.
const (
	usageHead = `Usage: pitap COMMAND [ARG...]

Records what a client says to pi --mode rpc and what pi says to it, and shows
what is wrong with it.

Commands:
`
	usageTail = `
A CAPTURE is a path, a label, or a part of a name or label that no other capture
has. Without it the newest is taken; why and inspect take the newest live one
first. "pitap help COMMAND" tells more about one command.

Example:
    $ pitap record -- pi --mode rpc     what your client runs in the place of pi
    $ pitap ls                          which sessions there are
    $ pitap show                        what was said in the newest one
    $ pitap check                       what is wrong with it
`
)

// helpTexts say what each command does, by name. Each names all flags of its command.
var helpTexts = map[string]string{
	"record": `Runs AGENT and stands between it and whoever started pitap, unnoticed, and
writes every byte with its time to a capture file. Put it where the agent was.
The exit status is the agent's.

    -o, --output FILE   write the capture to FILE (FILE-2, ... if it exists)
    --dir DIR           write it to the folder DIR
    --name LABEL        call the session LABEL in pitap ls
    --strict            refuse to start when the capture can't be written;
                        otherwise the session goes on unrecorded
    --sync              have the disk confirm every write: survives a power loss
    --quiet             say nothing on stderr, whatever happens to the recording
    --with-session      store the session's files in the capture at the end:
                        the session, full outputs of bash, exported pages, each
                        up to 16 MiB; pitap replay --files writes them out

Captures go to $PITAP_DIR, else to $XDG_STATE_HOME/pitap, else to
~/.local/state/pitap. They hold all that was said, prompts and secrets too.

Example:
    $ pitap record -- pi --mode rpc
    $ pitap record --name "hangs on abort" -- pi --mode rpc --no-session
    $ echo '{"type":"get_state"}' | pitap record -o t.jsonl.zst -- pi --mode rpc
`,
	"ls": `Lists the captures, newest first. The name is what the other commands take.
State is "live" while a session is being recorded, "cut" when the recorder was
killed before it had written the end, "fixture" of what pitap cut has made, else
what is wrong with the file. Framing is what was remarkable about the bytes
while they were recorded; pitap check looks for all that is wrong. On a narrow
terminal some columns are left out.

    --dir DIR       list the captures in the folder DIR
    --json          write an object for each capture, one a line
    --color WHEN    auto (on a terminal, unless NO_COLOR is set), always, never

Example:
    $ pitap ls
    $ pitap ls --dir ./captures
    $ pitap ls --json | jq -r 'select(.condition == "live").path'
`,
	"show": `Shows what was said, a line for each record: its number, the time since the
start, the time since the line above, the direction, what it is, its id, its
size, what is remarkable about its framing, and what matters of it.

    →  client to agent      !  the agent's stderr
    ←  agent to client      ·  notes: signals, ends, stalls, the exit

What is shown (all of these must hold; a flag can be given several times):
    --from STREAM   records of client, agent or stderr; note for notes
    --kind KIND     kinds that begin with KIND, or match it if it has * or ?:
                    prompt, response, response:get_state, text_delta, tool,
                    ui, not-json, exit
    --id ID         records with this id, or that are about this tool call;
                    may have * and ?
    --grep REGEXP   records whose bytes match
    --since PLACE   from there on: 1.5s, 2m, 1:02:03 (from the start) or #120
    --until PLACE   up to there
    --flagged       records whose framing is remarkable

How it is shown:
    --pretty            the whole records too, indented
    --json              the entries as they stand in the capture, one a line
    --jq EXPR           what the jq program EXPR makes of each record;
                        $entry has n, t, from and the entry's other members
    -r, --raw-output    with --jq: strings without quotes
    -f, --follow        go on while the session is recorded; ends when it does
    --runs              the tree of runs, turns, messages and tools instead of
                        records: how long each took, tokens, cost, errors
    --dir DIR           look for captures in the folder DIR
    --color WHEN        auto (on a terminal, unless NO_COLOR is set), always,
                        never

On a terminal lines are cut to its width. Control characters and whatever else
could act on a terminal are shown as symbols.

Example:
    $ pitap show -f
    $ pitap show --from client --since 2m
    $ pitap show --kind response --grep '"success":false'
    $ pitap show --kind tool_execution_end --jq '[$entry.t/1e9, .toolName]'
`,
	"check": `Says what is wrong with a session: each finding with its severity, its rule, the
place where it is first seen, how often it is seen, and what to do about it.
Rules are about framing (bytes and lines) and about the protocol, as it is in
the version of pi that was recorded.

    error    breaks the protocol
    hazard   is allowed, but known readers break on it, or work is lost
    note     is worth knowing

    --severity LEAST    only findings that are at least so bad
    --rule RULE         only findings of this rule; may be a part of its name or
                        have * and ?, and can be given several times
    --explain RULE      say what RULE means and do nothing else; all: all rules
    -f, --follow        go on while the session is recorded, and say what is
                        found as it comes; ends when the session does
    --format FORMAT     text, json (an object for each capture, one a line),
                        sarif (2.1.0), junit, or github (annotations)
    --json              the same as --format json
    --fail-on LEAST     what the exit status goes by: error, hazard, note, never
    --dir DIR           look for captures in the folder DIR
    --color WHEN        auto (on a terminal, unless NO_COLOR is set), always,
                        never

Exit status: 0 no errors, 1 errors, or something that could not be read, 2 wrong
use. Hazards, notes and a capture that was cut are no errors.

Example:
    $ pitap check
    $ pitap check --severity error session.jsonl.zst other.jsonl.zst
    $ pitap check --explain prompt-lost
    $ pitap check --format sarif fixtures/*.jsonl > pitap.sarif
`,
	"inspect": `Shows a session on the terminal and follows it while it is recorded: records,
runs, a timeline, findings, figures, the process. The last lines always say who
waits for whom, and what crossed last. ? shows the keys and the language of
filters.

    --dir DIR       the folder of the captures for c and F
    --theme THEME   dark, light or none; $PITAP_THEME is the default, and
                    NO_COLOR means none
    -f, --follow    begin at the end, and go on with the next session of the
                    same agent and folder

Example:
    $ pitap inspect
    $ pitap inspect -f
    $ pitap inspect session.jsonl.zst
`,
	"why": `Says in words what a session waits for, or how it ended: a command without an
answer, a run that goes on, a dialog nobody has answered, a signal, an exit.

    --dir DIR       look for captures in the folder DIR

Example:
    $ pitap why
    $ pitap why 4f02609e
`,
	"stats": `Gives the figures of a session: records and bytes by kind, how long responses
took (half, 90 and 99 of 100, the slowest), runs with the time to their first
delta, tokens and cost, tools by time, stalls, sizes of records.

    --json          write one JSON object; times in nanoseconds
    --dir DIR       look for captures in the folder DIR
    --color WHEN    auto (on a terminal, unless NO_COLOR is set), always, never

Example:
    $ pitap stats
    $ pitap stats --json 4f02609e
`,
	"extract": `Writes the exact bytes of one direction, as they crossed the wire. On a terminal
what could act on it is shown as symbols; redirect it for the bytes.

    --from STREAM   client, agent (the default) or stderr
    --dir DIR       look for captures in the folder DIR

Example:
    $ pitap extract --from client > session.in
    $ pitap extract --from client | pi --mode rpc
`,
	"prune": `Removes old captures; live ones never, nor files that are no captures. One of
the first three flags must be given. With several, captures go that are too old
or too much, but never the newest N.

    --older-than AGE    those that began more than AGE ago: 30d, 2w, 12h
    --max-size SIZE     the oldest, until the rest has at most SIZE: 2G, 500M
    --keep N            never the newest N; alone: all the others
    --dry-run           only say what would be removed
    --dir DIR           of the folder DIR

Example:
    $ pitap prune --older-than 30d --dry-run
    $ pitap prune --keep 100
    $ pitap prune --older-than 30d --max-size 2G --keep 10
`,
	"mend": `Makes a capture that was cut (its recorder was killed) whole for every program
that reads zstd: closes the frame that was open and adds the index. The file is
changed in place. pitap itself reads such captures as they are.

Example:
    $ pitap mend 4f02609e
    $ pitap mend session.jsonl.zst && zstd -t session.jsonl.zst
`,
	"shim": `Makes the folder DIR with three files, for clients that take only a path, or
start the first pi in PATH:

    pi            records conversations and passes every other call on to pi
    pi.mjs        the same for node, as RpcClient runs its cliPath
    pitap.json    says which pi, and with which flags; it may be edited

Made again, they are brought up to date. Files that pitap has not made are never
overwritten. What is printed says what to put where.

    --agent PI          path or name of the pi to record; else the first in PATH
                        that is not pitap
    --replay CAPTURE    replay CAPTURE, or the captures of a folder, in place of
                        the agent
    -o, --output FILE, --dir DIR, --name LABEL, --strict, --sync, --quiet,
    --with-session      as for pitap record

When it runs, these come before pitap.json: $PITAP_OFF (1: pass everything on),
$PITAP_AGENT (path or name of the pi to record), $PITAP_DIR, and for tests
$PITAP_FIXTURE (the capture to replay, or a folder of them; $PITAP_MODE is
replay, record, which makes it anew with the real pi, or auto, which does so
where it is missing). A session that ended in a run does not replace a whole
fixture: it is written beside it, as FIXTURE.new.

Example:
    $ pitap shim ~/.local/share/pitap
    $ pitap shim ./shim --agent node_modules/.bin/pi --dir captures --strict
`,
	"replay": `Is the agent of a capture, for tests of a client: no model, no key, no network,
and the same bytes every time. It sends what pi sent, each record when what
caused it has come from the client; only ids are the client's own. Put it where
the agent was. ARGs are pi's own flags: any are taken, and none does anything
but --version and --list-models, which are answered as pi did. Of a folder of
captures that with the same ARGs is taken, else each in its turn.

A command that changes something (prompt, abort, ...) must be a recorded one; it
may come before its turn, but what was recorded before it is waited for. A
question (get_state, ...) may be asked more often or less. What was not recorded
is answered with success:false at once, and is a miss. What the script waits for
is named on stderr after a second, and given up after four. The end of stdin, or
a signal, before the end of a run that was recorded ends the replay as it ends
pi. A damaged CAPTURE is not played.

How records are compared (ids and folders never count):
    --ignore PATH       not this member, as in images[*].data; repeatable
    --map OLD=NEW       the recorded text OLD is the client's NEW; repeatable
    --match HOW         exact, or type: a command need only have the same type
    CAPTURE.match       a file beside CAPTURE that says the same in JSON:
                        {"ignore":["PATH"],"map":{"OLD":"NEW"},"match":"type"}

Time:
    --wait TIME         how long to wait for the client: 4s; 0 is for ever
    --speed SPEED       client: as fast as it reads, with 5 ms behind an answer;
                        max: without these; 1: as recorded; 2: twice as fast
    --max-gap TIME      at a recorded speed, the longest pause

What else it does:
    --report NAME       write how it went to NAME, for pitap verdict. A NAME
                        without ending is a folder, in which each replay has a
                        file of its own; no file that is no report is replaced
    --files             write the files of the session, which record
                        --with-session keeps, to where they were; never over
                        another file
    --fault NAME[=ARG]  do to the client what agents and pipes do rarely;
                        --fault list tells what there is and what it catches
    --seed NUMBER       what a fault does at random; the same each time
    --quiet             nothing on stderr but what was recorded

Flags stand before CAPTURE. Each has a variable too, since most clients take
only a path: PITAP_IGNORE and PITAP_MAP (with commas between), PITAP_MATCH,
PITAP_WAIT, PITAP_SPEED, PITAP_MAX_GAP, PITAP_REPORT, PITAP_FILES=1,
PITAP_FAULT, PITAP_SEED, PITAP_QUIET=1. Under the name pi (see pitap help shim),
PITAP_FIXTURE names the CAPTURE.

Exit status: the recorded one; 1 after a miss, or when it gave up.

Example:
    $ pitap replay hello.jsonl --mode rpc
    $ pitap replay --report reports hello.jsonl
    $ PITAP_FIXTURE=hello.jsonl PITAP_REPORT=reports npm test
`,
	"cut": `Makes a fixture of a capture: a small file to keep beside a client's tests and
to review in a pull request. It is JSON lines, an entry each, and replays as the
capture does. Two recordings of the same conversation give the same bytes, since
what differs by chance gets stand-ins: ids, times, durations, ports, figures of
use, folders, names of machine and user. Texts of pi that are over 400 bytes are
shortened but where they give the client's own back, deltas joined. What the
client said keeps all its words, but for folders and the ids that pi gave it.

    -o, --output FILE   write it to FILE; else to stdout
    --run N             keep the run number N (pitap show --runs counts them)
    --entries A:B       keep the entries A to B (pitap show numbers them)
    --exact             change nothing in the records, for clients that look at
                        whole texts, count deltas, or read the session's files

With --run and --entries what the client sent before the first run is kept too,
and the latest answer to each question. Read a fixture before you publish it: of
the secrets that pi sent, only keys of well-known looks are replaced.

Example:
    $ pitap cut -o hello.jsonl
    $ pitap cut --run 2 -o second.jsonl 4f02609e
`,
	"verdict": `Tells of each replay whether the client did what was recorded, from the REPORTs
that pitap replay --report or $PITAP_REPORT wrote: files, or folders of them;
without any, $PITAP_REPORT. End a client's tests with it: most clients swallow
errors, and hide what an agent writes to stderr.

    --allow-unfinished  a client may end a session before its recorded end

    miss                a record of the client that was not recorded, and how
                        the nearest one differs
    never came          a recorded command that the client did not send
    waited              what was waited for, and how long
    asked early         a question that came before its place; pi would have
                        answered otherwise where a run had to end first
    answered out of turn
                        the client asked in another order, which is no mistake
    left over           a fixture of a folder that was not recorded anew

Exit status: 0 all went as recorded, 1 one did not, or there is no report.

Example:
    $ pitap verdict
    $ pitap verdict reports
`,
	"sweep": `Runs the test of a client once as it is, then once under each fault that agents
and pipes have: records cut in two or joined, over 64 KiB, with U+2028 in them,
junk between them, an agent that ends, stalls, or ignores SIGTERM. Tells of each
whether the test passed, failed or hung; a test that passes fails by the verdict
on its replays, but under faults that end the agent. The test must start
pi from PATH, or a shim of pitap by its path, and pass its environment on.

    --only NAME,...     these faults; pitap replay --fault list tells all, and
                        which clients they catch. NAME=ARG sets its size or time
    --timeout TIME      a test that takes longer hangs: 30s
    --seed NUMBER       what faults do at random; the same each time
    -v, --verbose       show what the tests write

Exit status: 0 the client takes all faults, 1 it does not. Under exit, kill and
no-term the agent ends or does not: the test may fail there, but it must end.

Example:
    $ pitap sweep hello.jsonl -- npm test
    $ pitap sweep --only u2028,big=200000 hello.jsonl -- python3 test_hello.py
`,
	"demo": `Has a built-in client talk to a built-in pi through pitap record, then shows
what was said, what is wrong with it, and how it ended. Nothing has to be
installed, and nothing goes over the network. The capture stays in the folder
for temporary files, to look around in.

Example:
    $ pitap demo
`,
}
