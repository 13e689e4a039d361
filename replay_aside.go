package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"pitap/record"
	"pitap/record/rpc"
)

// aside answers the calls of pi that are no conversation: --version and --list-models. They use nothing up.
func (t *tool) aside(path string, args []string) (done bool, err error) {
	before := args
	if i := slices.Index(args, "--"); i >= 0 {
		before = args[:i]
	}
	version := slices.Contains(before, "--version") || slices.Contains(before, "-v")
	models := slices.Index(before, "--list-models")
	if !version && models < 0 {
		return false, nil
	}
	c, err := record.Open(path)
	if err != nil {
		return false, err
	}
	defer c.Close()
	h, err := c.Header()
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if version {
		v := h.Agent.Version
		if v == "" {
			v = rpc.Newest().String()
		}
		fmt.Fprintln(t.out(), v)
		return true, nil
	}
	search := ""
	if models+1 < len(before) && !strings.HasPrefix(before[models+1], "-") {
		search = before[models+1]
	}
	return true, t.listModels(c, search)
}

// model is what pi lists of one.
type model struct {
	ID            string   `json:"id"`
	Provider      string   `json:"provider"`
	ContextWindow float64  `json:"contextWindow"`
	MaxTokens     float64  `json:"maxTokens"`
	Reasoning     bool     `json:"reasoning"`
	Input         []string `json:"input"`
}

// listModels lists the models that the capture's latest get_available_models tells of, else those that other answers do.
func (t *tool) listModels(c *record.Capture, search string) error {
	found := map[string]model{}
	for c.Next() {
		e := c.Entry()
		if e.From != record.Agent || e.Form != record.Msg {
			continue
		}
		head := rpc.Look("agent", e.Body)
		if head.Type != "response" || !head.Success {
			continue
		}
		var r struct {
			Data struct {
				Models []model
				Model  *model
			}
		}
		if json.Unmarshal(e.Body, &r) != nil {
			continue
		}
		switch {
		case head.Command == "get_available_models":
			clear(found)
			for _, m := range r.Data.Models {
				found[m.Provider+"/"+m.ID] = m
			}
		case r.Data.Model != nil && r.Data.Model.ID != "":
			m := *r.Data.Model
			found[m.Provider+"/"+m.ID] = m
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	var names []string
	for name := range found {
		if strings.Contains(name, search) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	if len(names) == 0 {
		fmt.Fprintln(t.out(), "No models were recorded")
		return nil
	}
	w := tabwriter.NewWriter(t.out(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "provider\tmodel\tcontext\tmax-out\tthinking\timages")
	for _, name := range names {
		m := found[name]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Provider, m.ID, tokens(m.ContextWindow), tokens(m.MaxTokens), yes(m.Reasoning), yes(slices.Contains(m.Input, "image")))
	}
	return w.Flush()
}

// tokens writes a count as pi does: 200000 as 200K.
func tokens(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e6, "M"}, {1e3, "K"}} {
		if n >= unit.size {
			return strings.TrimSuffix(strconv.FormatFloat(n/unit.size, 'f', 1, 64), ".0") + unit.name
		}
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
