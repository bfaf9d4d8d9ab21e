//! A file of C, and its symbols.

pub(super) const TEXT: &str = r#"
/* Views. */
#include <stdio.h>
#include "view.h"

#ifndef VIEW_H
#define VIEW_H
#define MAX_NAME 64 /* bytes */
#define VIEW_OF(pointer, field) ((view_t *)((char *)(pointer) - offsetof(view_t, field)))

typedef unsigned int view_id;
typedef int (*view_compare)(const view_t *left, const view_t *right);
typedef struct { int x; int y; } point_t;
typedef struct view {
    char name[MAX_NAME];
    struct part *parts;
    void (*show)(struct view *self);
} view_t;
typedef enum { LEVEL_LOW, LEVEL_HIGH = 5 } level_t;
struct part { level_t level; union { int number; float real; } value; };
enum state { OPEN, CLOSED };

static const char *const names[] = { "first", "second", "third", "fourth", "fifth" };
extern int view_count;
static struct part *first, *last = NULL;
static int (*hook)(int) = default_hook;

int view_show(const view_t *view, int depth, ...);
static inline view_t *view_new(const char *name, /* may be NULL */
                               size_t size)
{
    view_t *view = view_alloc(sizeof(struct part));
    int local_count = MAX_NAME;
    for (int index = 0; index < local_count; index++)
        view->parts[index].level = level_of(name, index);
    view->show(view);
    return view;
}

void view_free(view_t *view) { free(view); }
#endif
"#;

pub(super) const SYMBOLS: &str = r#"
import <stdio.h>
import "view.h"
Constant MAX_NAME = 64
Macro VIEW_OF (pointer, field)
Type view_id = unsigned int
Type view_compare = int (*)(const view_t *left, const view_t *right)
Class point_t
Type view_t = struct view
  Class view
Enum level_t { LEVEL_LOW, LEVEL_HIGH }
Class part
Enum state { OPEN, CLOSED }
Constant names : const char *const[]
Constant view_count : int
Constant first : struct part *
Constant last : struct part * = NULL
Constant hook : int (*)(int) = default_hook
Function view_show (const view_t *view, int depth, ...) -> int
Function view_new (const char *name, size_t size) -> view_t *
Function view_free (view_t *view)
"#;
