// The parts of the interpreters that are written in their own languages.
#ifndef ALCOVE_SCRIPT_MODULES_H
#define ALCOVE_SCRIPT_MODULES_H
#include <stddef.h>

/// The text of a file of the library, UTF-8 and ended by a zero, which is not counted; NULL when there is none of that name.
const char *alcove_script_module(const char *name, size_t *count);

#endif
