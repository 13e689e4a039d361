package main

// usageText is what pitap help says, around the list of commands.
const (
	usageHead = `Usage: pitap COMMAND [ARG...]

Records what a client says to pi --mode rpc and what pi says to it, and shows
what is wrong with it.

Commands:
`
	usageTail = `
A CAPTURE is a path, a part of a name that no other capture has, or absent for
the newest. "pitap help COMMAND" tells more about one command.

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
$PITAP_AGENT (path or name of the pi to record), $PITAP_DIR.

Example:
    $ pitap shim ~/.local/share/pitap
    $ pitap shim ./shim --agent node_modules/.bin/pi --dir captures --strict
`,
}
