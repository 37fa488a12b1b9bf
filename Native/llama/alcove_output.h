// The door to llama.cpp's common/ for what comes out of a model: parsing while it streams, and grammar samplers whose
// C++ exceptions stop here. Text and results are as in alcove_chat.h.
#ifndef ALCOVE_OUTPUT_H
#define ALCOVE_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include "llama.h"
#ifdef __cplusplus
extern "C" {
#endif

// The text of one answer with its parser, loaded once. Used by one thread at a time.
typedef struct alcove_output alcove_output;

// `request`: {"parser", "format", "generation_prompt", "reasoning_format"}. *answer becomes {"delimiters": [texts
// at which free text may end]}, or a failure document with the result NULL.
alcove_output * alcove_output_open(const char * request, char ** answer);
void alcove_output_close(alcove_output * output);

void alcove_output_append(alcove_output * output, const char * text, size_t size);

// Parses the first `size` bytes of the text held. Result: {"state": "failed" (no continuation can make this an answer) |
// "open" (more must come) | "whole"} and, unless failed, only what changed since the last parse that did not fail:
// {"content": change, "reasoning": change, "calls": [{"id", "name", "arguments": change}]}, a change being [bytes that
// stay, text that follows them]. Calls that were there and are not told are gone.
char * alcove_output_parse(alcove_output * output, size_t size);

// Puts a text in the place of the first `size` bytes and forgets every earlier result: the answer begins anew there.
void alcove_output_replace(alcove_output * output, size_t size, const char * replacement);

// A sampler that holds tokens to a grammar: from the start, or (`lazy`) from where one of the patterns or tokens is first
// seen. NULL when the grammar cannot be compiled.
struct llama_sampler * alcove_grammar_sampler(const struct llama_vocab * vocab, const char * grammar, bool lazy,
    const char ** patterns, size_t pattern_count, const llama_token * tokens, size_t token_count);

// llama_sampler_accept; false when the grammar cannot go on from there (the library throws).
bool alcove_sampler_accept(struct llama_sampler * sampler, llama_token token);

#ifdef __cplusplus
}
#endif
#endif
