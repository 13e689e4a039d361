package session

import "pitap/record"

// kind is what is known of one kind of record of one stream.
type kind struct {
	KindVolume
	stream  record.Stream
	name    string
	sample  int // records that were compared with the vocabulary
	guessed int // records that were looked at for the version
}

// maxKinds bounds the kinds that are told apart; hostile traffic could have any number.
const maxKinds = 500

const (
	noRecord = "not a record"
	noType   = "no type"
	stderr   = "line"
)

type kinds struct {
	all   [4]map[string]*kind
	last  [4]*kind // of its stream
	list  []*kind
	other [4]*kind
}

func (k *kinds) init() {
	for i := range k.all {
		k.all[i] = map[string]*kind{}
	}
}

// of returns the kind of a record.
func (k *kinds) of(r *Record) *kind {
	name := r.Kind
	switch {
	case r.From == record.Stderr:
		name = stderr
	case name != "":
	case r.JSON:
		name = noType
	default:
		name = noRecord
	}
	if last := k.last[r.From]; last != nil && last.name == name {
		return last
	}
	one := k.all[r.From][name]
	if one == nil {
		one = k.add(r.From, name)
	}
	k.last[r.From] = one
	return one
}

func (k *kinds) add(from record.Stream, name string) *kind {
	if len(k.list) >= maxKinds {
		if k.other[from] == nil {
			k.other[from] = k.insert(from, "others")
		}
		return k.other[from]
	}
	one := k.insert(from, name)
	k.all[from][name] = one
	return one
}

func (k *kinds) insert(from record.Stream, name string) *kind {
	one := &kind{KindVolume: KindVolume{From: from.String(), Kind: name}, stream: from, name: name}
	k.list = append(k.list, one)
	return one
}

// KindVolume is how much there was of one kind of record.
type KindVolume struct {
	From    string `json:"from"`
	Kind    string `json:"kind"`
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"`
	Largest int64  `json:"largest"`
}
