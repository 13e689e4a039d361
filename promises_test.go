package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/promises.md names tests that exist, where it says that they are.
func TestPromisesNameTests(t *testing.T) {
	page, err := os.ReadFile("docs/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string][]string{} // package folders by test
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(content, -1) {
			exist[string(m[1])] = append(exist[string(m[1])], filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// A list of tests, and the package that it is followed by.
	list := regexp.MustCompile("(`(?:Test|Fuzz)\\w+`(?:, `(?:Test|Fuzz)\\w+`)*)(?: in `\\./([\\w/]+)`)?")
	name := regexp.MustCompile("`(\\w+)`")
	named := 0
	for _, m := range list.FindAllSubmatch(page, -1) {
		dir := string(m[2])
		if dir == "" {
			dir = "."
		}
		for _, n := range name.FindAllSubmatch(m[1], -1) {
			named++
			if found := exist[string(n[1])]; !strings.Contains(" "+strings.Join(found, " ")+" ", " "+dir+" ") {
				t.Errorf("docs/promises.md says that %s is in %s; it is in %q", n[1], dir, found)
			}
		}
	}
	if named < 50 {
		t.Errorf("%d tests are named", named)
	}
}
