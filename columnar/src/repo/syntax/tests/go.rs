//! A file of Go, and its symbols.

pub(super) const TEXT: &str = r#"
// Package view shows views.
package view

import (
	"context"
	"fmt"
	v "example.org/view/v2"
	_ "embed"
)

const MaxName = 64

const (
	Low Level = iota
	High
)

var (
	ErrEmpty = errors.New("empty")
	first, second int
	table = map[string]Part{"first": {Name: "a"}, "second": {Name: "b"}}
)

type Level int
type ID = string
type Handler func(ctx context.Context, part *Part) error

// View is a view.
type View[T any] struct {
	Base
	Name  string
	parts []T
}

type Shower interface {
	fmt.Stringer
	Show(ctx context.Context, depth int) (string, error)
}

func New(spec *v.Spec, opts ...Option) (*View[Part], error) {
	view := &View[Part]{Name: spec.Name, parts: partsOf(spec)}
	for index, part := range view.parts {
		if err := part.Check(index); err != nil {
			return nil, fmt.Errorf("part %d: %w", index, ErrEmpty)
		}
	}
	go func() { run(view) }()
	return view, nil
}

func (view *View[T]) Show(ctx context.Context, depth int) (string, error) {
	const local = 3
	type inner struct{ Level }
	switch part := any(view).(type) {
	case Shower:
		return part.Show(ctx, depth)
	}
	return render(view, v.Depth), nil
}

func Map[T, U any](items []T, change func(T) U) []U { return apply(items, change) }
"#;

pub(super) const SYMBOLS: &str = r#"
import context
import fmt
import v "example.org/view/v2"
import _ "embed"
Constant MaxName = 64
Constant Low Level = iota
Constant High
Constant ErrEmpty = errors.New("empty")
Constant first int
Constant second int
Constant table
Type Level int
Type ID = string
Type Handler func(ctx context.Context, part *Part) error
Class View [T any]
Trait Shower
  Function Show (ctx context.Context, depth int) (string, error)
Function New (spec *v.Spec, opts ...Option) (*View[Part], error)
Function Show (ctx context.Context, depth int) (string, error) on *View[T]
Function Map [T, U any](items []T, change func(T) U) []U
"#;
