package record

import "pitap/record/scan"

type Flags uint32

const flagOversize Flags = 1
const pipeSize = 65536

func (f Flags) Names() []string                            { return nil }
func ParseFlag(name string) (Flags, bool)                  { return 0, false }
func FlagsOf(body []byte, eol string, r scan.Result) Flags { return 0 }
