package rpc

import "strings"

// Types is a set of JSON types.
type Types uint8

const (
	String Types = 1 << iota
	Number
	Bool
	Object
	Array
	Null

	Any = String | Number | Bool | Object | Array | Null
)

var typeNames = [...]string{"string", "number", "bool", "object", "array", "null"}

// String returns "string", "string|null" or "any".
func (t Types) String() string {
	if t&Any == Any {
		return "any"
	}
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}

// Value is one of the values that a field may hold.
type Value struct {
	Name string // of a string its text, of another value its token
	Span
}

// Field is a member of a record, or of an object in it.
type Field struct {
	Name     string
	Types    Types
	Required bool    // all objects have it in the versions that have the field
	Enum     []Value // what it may hold, when that is limited
	Span             // the versions that have it
	Of       *Shape  // what its object, or each element of its array, looks like; nil: not told
	Items    Types   // JSON types of the elements of its array; 0: not told
	Echo     bool    // pi shows what a client once set, unchecked: it may be anything, or absent
	History  bool    // its elements come from a session's file, which other versions of pi may have written
	Note     string
}

// Word is what all words of the vocabulary have in common.
type Word struct {
	Name   string
	Span           // the versions that have it
	Became string  // the name of what took its place, when it is gone
	Fields []Field // its members, without type, role and the like
	Open   bool    // members that are not in Fields are normal
	Note   string

	plan *plan // Fields and what goes without saying, for Validate
}

// Field returns the field of that name, or nil.
func (w *Word) Field(name string) *Field { return fieldNamed(w.Fields, name) }

func fieldNamed(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// Command is what a client may ask for. Fields leaves out type and id, which all commands have; pi takes any JSON value as an id.
type Command struct {
	Word
	Data     []Field // of its response when it succeeded; no data where the version has none of them
	DataNull bool    // its response may hold data null

	ChangesState  bool // it changes the session, its settings or what the agent does; otherwise it only asks
	StartsRun     bool // it starts a run (prompt, unless it is queued or handled)
	AbortsRun     bool // it aborts a run in progress
	ResetsSession bool // when it succeeds, another session takes the place of this one
	CallsModel    bool // the agent calls a model for it
	WritesFile    bool // it writes a file that is no session

	// Emits names the events that it causes before its response, if there is anything to tell (prompt: when it is
	// queued), in the versions that have them.
	Emits []string

	late, cuts *Span // nil: in no version
	data       *Shape
}

// DataField returns the field of that name of the response's data, or nil.
func (c *Command) DataField(name string) *Field { return fieldNamed(c.Data, name) }

// ReadOnly reports that the command changes nothing in the session.
func (c *Command) ReadOnly() bool { return !c.ChangesState }

// AnswersLate reports that its response can be overtaken by responses to later commands. An unknown version counts as
// the newest.
func (c *Command) AnswersLate(v Version) bool { return holds(c.late, v) }

// CutsRun reports that, when it succeeds during a run, the run's message, turn and run stay open: their end records
// never come. An unknown version counts as the newest.
func (c *Command) CutsRun(v Version) bool { return holds(c.cuts, v) }

func holds(s *Span, v Version) bool {
	if v.IsZero() {
		v = Newest()
	}
	return s != nil && s.At(v) <= Maybe
}

// Event is a type of record that the agent writes, except response.
type Event struct {
	Word
	RPCOnly bool // it exists in RPC mode only, not in pi's JSON mode
}

// Update is a kind of message_update: a type of its assistantMessageEvent.
type Update struct {
	Word
	Internal bool // it stays inside pi and never comes out
}

// Method is a method of extension_ui_request. Fields leaves out type, id and method.
type Method struct {
	Word
	Dialog bool     // it waits for an extension_ui_response
	Answer []string // the members of which the UI response has one
}

// Message is a kind of message, by its role.
type Message struct {
	Word
	Stored bool // it occurs in the session and in the data of get_messages, never in events
}

// Shape is what an object inside a record looks like: either Fields, or, with a Tag, what the value of that member
// says (role of messages, type of content blocks and updates). But for updates, members that it does not name are
// normal.
type Shape struct {
	Name   string
	Tag    string
	Fields []Field // without a Tag
	Note   string

	plan  *plan            // with a Tag: of the tag alone
	kinds map[string]*plan // by value of Tag
}

// Behaviour is something that versions of pi do differently and that no word or field shows.
type Behaviour struct {
	ID   string // such as "abort-delivers-queue"; never changes
	Span        // the versions that behave so
	What string // in words, for people
}

// Vocabulary is the protocol as data. It is read-only: all its slices and pointers are shared.
type Vocabulary struct {
	Tested      []Version // versions of pi that the vocabulary was compared with, oldest first
	Commands    []*Command
	UIResponses []*Word // what a client sends that is no command: extension_ui_response
	Events      []*Event
	Response    *Word
	Errors      []*Word // what responses name as their command although no client sends it: parse
	Updates     []*Update
	Methods     []*Method
	Messages    []*Message
	Blocks      []*Word
	Shapes      []*Shape
	Behaviours  []*Behaviour

	commands    map[string]*Command
	uiResponses map[string]*Word
	events      map[string]*Event
	updates     map[string]*Update
	methods     map[string]*Method
	messages    map[string]*Message
	blocks      map[string]*Word
	shapes      map[string]*Shape
	behaviours  map[string]*Behaviour
	anyMethod   *plan // of a UI request whose method is not known
	heads       heads
}

// Command returns the command of that name, or nil.
func (v *Vocabulary) Command(name string) *Command { return v.commands[name] }

// UIResponse returns the record of that type with which a client answers a UI request, or nil.
func (v *Vocabulary) UIResponse(name string) *Word { return v.uiResponses[name] }

// Event returns the event of that type, or nil. UI requests are events, responses are not.
func (v *Vocabulary) Event(name string) *Event { return v.events[name] }

// Update returns the kind of message_update, or nil.
func (v *Vocabulary) Update(kind string) *Update { return v.updates[kind] }

// Method returns the method of extension_ui_request, or nil.
func (v *Vocabulary) Method(name string) *Method { return v.methods[name] }

// Message returns the kind of message with that role, or nil.
func (v *Vocabulary) Message(role string) *Message { return v.messages[role] }

// Block returns the content block of that type, or nil.
func (v *Vocabulary) Block(name string) *Word { return v.blocks[name] }

// Shape returns the shape of that name, or nil.
func (v *Vocabulary) Shape(name string) *Shape { return v.shapes[name] }

// Behaviour returns the behaviour of that id, or nil.
func (v *Vocabulary) Behaviour(id string) *Behaviour { return v.behaviours[id] }

// Behaves reports whether version at behaves so. An unknown version counts as the newest, an untested one between a
// version that does and one that does not as one that does. It panics for an id that does not exist.
func (v *Vocabulary) Behaves(id string, at Version) bool { return holds(&v.behaviours[id].Span, at) }

// Newest returns the newest tested version of pi.
func Newest() Version {
	tested := Load().Tested
	return tested[len(tested)-1]
}
