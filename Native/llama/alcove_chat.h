// The door from Swift to llama.cpp's common/, which is C++ only: Jinja chat templates, output parsing, grammars.
//
// Every call takes and gives UTF-8 JSON text. A result is malloc'ed, to be freed with alcove_chat_free, and is NULL only
// when memory is out. A failure is {"error": text, "kind": "raised" | "template" | "input"}: "raised" are the template's
// own words (raise_exception), "template" a fault in the template, "input" a fault in what was passed.
#ifndef ALCOVE_CHAT_H
#define ALCOVE_CHAT_H
#include <stdbool.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

// A parsed chat template. Immutable after alcove_chat_open, so calls with it may run at once on several threads.
typedef struct alcove_chat_template alcove_chat_template;

// Parses `source`. `bos` and `eos` are the texts of those tokens, empty when there are none. On failure returns NULL and
// sets *error to a failure document.
alcove_chat_template * alcove_chat_open(const char * source, const char * bos, const char * eos, char ** error);
void alcove_chat_close(alcove_chat_template * chat);

// {"tools": bool, "tool_calls": bool, "system_role": bool, "thinking": bool, ...}: what the template can express.
char * alcove_chat_capabilities(const alcove_chat_template * chat);

// Renders a conversation. `request`: {"messages", "tools"?, "tool_choice"?, "json_schema"?, "parallel_tool_calls"?,
// "enable_thinking"?, "reasoning_format"?, "add_generation_prompt"?, "kwargs"?, "now"? (seconds)}. Result: {"parts":
// [[text, input], ...], "format", "grammar", "grammar_lazy", "triggers": [{"type", "value", "token"}],
// "preserved_tokens", "stops", "parser", "generation_prompt", "thinking_start", "thinking_ends"}. `input` is true for
// text that came from the request, false for text the template itself wrote.
char * alcove_chat_apply(const alcove_chat_template * chat, const char * request);

// Parses what a model wrote. `request`: {"parser", "format", "generation_prompt", "reasoning_format", "text",
// "partial"}. Result: an OpenAI-shaped assistant message.
char * alcove_chat_parse(const char * request);

// {"grammar": GBNF} for a JSON schema.
char * alcove_chat_schema_grammar(const char * schema);

// Renders any Jinja source with any context, as strict as Python: null and undefined are errors in a sum. `request`: {"template", "context", "now"?
// (seconds, local time)}. Result: {"output"}.
char * alcove_jinja_render(const char * request);

void alcove_chat_free(char * text);

#ifdef __cplusplus
}
#endif
#endif
