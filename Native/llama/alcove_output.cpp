// See alcove_output.h.
#include "alcove_output.h"

#include "chat-peg-parser.h"
#include "chat.h"
#include "common.h"
#include "json.h"
#include "peg-parser.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>

struct alcove_output {
    common_chat_parser_params params;
    std::string               text;
    common_chat_msg           last;
};

namespace {

char * copy(const std::string & text) {
    char * out = (char *) malloc(text.size() + 1);
    if (out) { memcpy(out, text.c_str(), text.size() + 1); }
    return out;
}

template <class Body> char * guarded(Body body) {
    std::string reason;
    try {
        return copy(body().dump());
    } catch (const std::exception & error) {
        reason = error.what();
    } catch (...) {
        reason = "an unknown fault";
    }
    common_json object = common_json::object();
    object["error"] = reason;
    object["kind"]  = std::string("output");
    return copy(object.dump());
}

// What `now` has that `before` had not. The cut is between characters, so that the rest is text by itself.
common_json change(const std::string & before, const std::string & now) {
    size_t same = 0, most = std::min(before.size(), now.size());
    while (same < most && before[same] == now[same]) { same++; }
    while (same > 0 && same < now.size() && ((unsigned char) now[same] & 0xC0) == 0x80) { same--; }
    common_json pair = common_json::array();
    pair.push_back((int64_t) same);
    pair.push_back(now.substr(same));
    return pair;
}

std::string text_or_empty(const common_json & object, const char * key) {
    return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>() : "";
}

// The texts at which a stretch of free text ends, anywhere in a serialised parser.
void collect_delimiters(const common_json & node, std::set<std::string> & out) {
    if (node.is_array()) {
        for (const auto & item : node) { collect_delimiters(item, out); }
    } else if (node.is_object()) {
        if (text_or_empty(node, "type") == "schema") { return; }
        if (node.contains("delimiters") && node.at("delimiters").is_array()) {
            for (const auto & item : node.at("delimiters")) { out.insert(item.get<std::string>()); }
            return;
        }
        for (const auto & [key, value] : node.items()) { collect_delimiters(value, out); }
    }
}

std::string without_space_at_end(const std::string & text) {
    size_t end = text.find_last_not_of(" \t\r\n");
    return end == std::string::npos ? "" : text.substr(0, end + 1);
}

bool opens_call(const std::string & text) {
    if (text.empty() || (text[0] != '<' && text[0] != '[')) { return false; }
    std::string lower;
    for (char c : text) { lower += (char) std::tolower((unsigned char) c); }
    return lower.find("tool") != std::string::npos || lower.find("call") != std::string::npos ||
        lower.find("func") != std::string::npos;
}

// The library takes the white space that a template writes behind "<tool_call>" for a part of the marker. Models leave it
// out, and then the whole call would count as text. Here a marker ends at its last visible character, and white space may
// follow.
void loosen_call_markers(common_json & program, const std::set<std::string> & delimiters) {
    std::set<std::string> wide;
    for (const auto & text : delimiters) {
        if (opens_call(text) && without_space_at_end(text) != text) { wide.insert(text); }
    }
    if (wide.empty() || !program.contains("parsers") || !program.at("parsers").is_array()) { return; }
    common_json nodes = common_json::array();
    for (const auto & node : program.at("parsers")) { nodes.push_back(node); }
    const size_t count = nodes.size();
    for (size_t i = 0; i < count; i++) {
        std::string type = text_or_empty(nodes.at(i), "type");
        if (type == "until") {
            common_json list = common_json::array();
            for (const auto & item : nodes.at(i).at("delimiters")) {
                std::string text = item.get<std::string>();
                list.push_back(wide.count(text) ? without_space_at_end(text) : text);
            }
            nodes[i]["delimiters"] = list;
        } else if (type == "literal" && wide.count(text_or_empty(nodes.at(i), "literal"))) {
            common_json literal = common_json::object(), space = common_json::object(), both = common_json::object();
            literal["type"]    = std::string("literal");
            literal["literal"] = without_space_at_end(text_or_empty(nodes.at(i), "literal"));
            space["type"]      = std::string("space");
            common_json children = common_json::array();
            children.push_back((int64_t) nodes.size());
            children.push_back((int64_t) nodes.size() + 1);
            both["type"]     = std::string("sequence");
            both["children"] = children;
            nodes.push_back(literal);
            nodes.push_back(space);
            nodes[i] = both;
        }
    }
    program["parsers"] = nodes;
}

}  // namespace

extern "C" alcove_output * alcove_output_open(const char * request_text, char ** answer) {
    alcove_output * result = nullptr;
    char * text = guarded([&] {
        auto request = common_json::parse(request_text);
        auto output  = std::make_unique<alcove_output>();
        output->params.format            = (common_chat_format) request.at("format").get<int>();
        output->params.reasoning_format  = common_reasoning_format_from_name(request.at("reasoning_format").get<std::string>());
        output->params.generation_prompt = text_or_empty(request, "generation_prompt");
        std::string parser               = text_or_empty(request, "parser");
        output->params.parser = build_chat_peg_parser([](common_chat_peg_builder & p) { return p.content(p.rest()) + p.end(); });
        std::set<std::string> delimiters;
        if (!parser.empty()) {
            auto program = common_json::parse(parser);
            collect_delimiters(program, delimiters);
            loosen_call_markers(program, delimiters);
            output->params.parser.load(program.dump());
            delimiters.clear();
            collect_delimiters(program, delimiters);
        }
        common_json list = common_json::array();
        for (const auto & item : delimiters) { list.push_back(item); }
        common_json opened = common_json::object();
        opened["delimiters"] = list;
        result = output.release();
        return opened;
    });
    *answer = text;
    return result;
}

extern "C" void alcove_output_close(alcove_output * output) { delete output; }

extern "C" void alcove_output_append(alcove_output * output, const char * text, size_t size) {
    output->text.append(text, size);
}

extern "C" char * alcove_output_parse(alcove_output * output, size_t size) {
    return guarded([&] {
        const auto & params = output->params;
        std::string  input  = params.generation_prompt + output->text.substr(0, size);
        // common_chat_parse, but its exception hides how the parse ended, and a failure half way may pass for none.
        common_peg_parse_context context(input, COMMON_PEG_PARSE_FLAG_LENIENT);
        auto parsed = params.parser.parse(context);

        common_json result = common_json::object();
        result["state"] = std::string(parsed.fail() ? "failed" : parsed.success() ? "whole" : "open");
        if (parsed.fail()) { return result; }
        common_chat_msg message;
        message.role = "assistant";
        if (params.format == COMMON_CHAT_FORMAT_PEG_GEMMA4) {
            common_chat_peg_gemma4_mapper(message).from_ast(context.ast, parsed);
        } else if (params.format == COMMON_CHAT_FORMAT_PEG_MINIMAX_M3) {
            common_chat_peg_minimax_m3_mapper(message).from_ast(context.ast, parsed);
        } else {
            common_chat_peg_mapper(message).from_ast(context.ast, parsed);
        }
        // Arguments that are no object: the library puts an empty one in their place.
        size_t names = 0;
        context.ast.visit(parsed, [&](const common_peg_ast_node & node) {
            if (node.tag == common_chat_peg_builder::TOOL_NAME) { names++; }
            if (node.tag != common_chat_peg_builder::TOOL_ARGS || names == 0 || names > message.tool_calls.size()) { return; }
            size_t first = node.text.find_first_not_of(" \t\r\n");
            auto & arguments = message.tool_calls[names - 1].arguments;
            bool is_empty = arguments.empty() || arguments == "{" || arguments == "{}";
            if (is_empty && first != std::string_view::npos && node.text[first] != '{' && node.text[first] != '<') {
                arguments = std::string(node.text);
            }
        });
        const auto & last = output->last;
        result["content"]   = change(last.content, message.content);
        result["reasoning"] = change(last.reasoning_content, message.reasoning_content);
        common_json calls = common_json::array();
        for (size_t i = 0; i < message.tool_calls.size(); i++) {
            const auto & call = message.tool_calls[i];
            common_json item = common_json::object();
            item["id"]        = call.id;
            item["name"]      = call.name;
            item["arguments"] = change(i < last.tool_calls.size() ? last.tool_calls[i].arguments : "", call.arguments);
            calls.push_back(item);
        }
        result["calls"] = calls;
        output->last = std::move(message);
        return result;
    });
}

extern "C" void alcove_output_replace(alcove_output * output, size_t size, const char * replacement) {
    output->text.replace(0, size, replacement);
    output->last = common_chat_msg();
}

extern "C" llama_sampler * alcove_grammar_sampler(const llama_vocab * vocab, const char * grammar, bool lazy,
        const char ** patterns, size_t pattern_count, const llama_token * tokens, size_t token_count) {
    try {
        return lazy ? llama_sampler_init_grammar_lazy_patterns(vocab, grammar, "root", patterns, pattern_count, tokens, token_count)
                    : llama_sampler_init_grammar(vocab, grammar, "root");
    } catch (...) {
        return nullptr;
    }
}

extern "C" bool alcove_sampler_accept(llama_sampler * sampler, llama_token token) {
    try {
        llama_sampler_accept(sampler, token);
        return true;
    } catch (...) {
        return false;
    }
}
