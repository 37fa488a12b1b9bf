// See alcove_chat.h. This file is compiled INSTEAD of common/chat.cpp, which it includes: the library marks which parts
// of a rendered prompt came from input (common/jinja/README.md) and then throws the marks away inside a static function.
// Two calls of that function are renamed below so that the marks can be read, with no copy of the library to keep.
#include "alcove_chat.h"

#include "chat-auto-parser-helpers.h"
#include "chat-auto-parser.h"
#include "chat-peg-parser.h"
#include "chat.h"
#include "common.h"
#include "ggml.h"
#include "jinja/caps.h"
#include "jinja/runtime.h"
#include "jinja/value.h"
#include "json-schema-to-grammar.h"
#include "json.h"
#include "log.h"
#include "parsers/parsers.h"
#include "peg-parser.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

// Renderings of the call under way on this thread. One apply renders several times (to learn what the template does);
// the one whose text is the final prompt is picked out afterwards.
struct recording {
    std::vector<std::vector<jinja::string_part>> renderings;
    bool    has_now = false;
    int64_t now     = 0;
};
thread_local recording * current_recording = nullptr;

bool is_known_role(const std::string & role) {
    static const std::set<std::string> known = { "system", "developer", "user", "assistant", "tool", "model" };
    return known.count(role) > 0;
}

}  // namespace

namespace jinja {

// As global_from_json, but words of the host stay the template's: the BOS and EOS texts (they come through the same
// door as messages), and role names, of which templates build control tokens: '<|' + message.role + '|>'.
static void global_from_json_marked(context & ctx, const common_json & object, bool mark_input) {
    global_from_json(ctx, object, mark_input);
    for (const char * name : { "bos_token", "eos_token" }) {
        if (object.contains(name) && object.at(name).is_string()) {
            ctx.set_val(name, mk_val<value_string>(object.at(name).get<std::string>()));
        }
    }
    if (object.contains("messages") && object.at("messages").is_array()) {
        auto messages = ctx.get_val("messages");
        for (const auto & item : messages->as_array()) {
            if (!is_val<value_object>(item)) { continue; }
            value none = mk_val<value_undefined>("role");
            auto role = item->at("role", none);
            if (is_val<value_string>(role) && is_known_role(role->as_string().str())) {
                item->insert(mk_val<value_string>("role"), mk_val<value_string>(role->as_string().str()));
            }
        }
    }
    if (current_recording && current_recording->has_now) { ctx.current_time = (std::time_t) current_recording->now; }
}

struct runtime_marked : runtime {
    explicit runtime_marked(context & ctx) : runtime(ctx) {}
    static value_string gather_string_parts(const value & rendered) {
        auto parts = runtime::gather_string_parts(rendered);
        if (current_recording) { current_recording->renderings.push_back(parts->val_str.parts); }
        return parts;
    }
};

}  // namespace jinja

#define runtime runtime_marked
#define global_from_json global_from_json_marked
#include "chat.cpp"
#undef global_from_json
#undef runtime

struct alcove_chat_template {
    common_chat_templates_ptr templates;
};

namespace {

char * copy(const std::string & text) {
    char * out = (char *) malloc(text.size() + 1);
    if (out) { memcpy(out, text.c_str(), text.size() + 1); }
    return out;
}

char * failure(const std::string & text, const char * kind) {
    common_json object = common_json::object();
    object["error"] = text;
    object["kind"]  = std::string(kind);
    return copy(object.dump());
}

// An error the template raised by itself arrives wrapped in a trace; its words stand after this mark.
const char * const RAISED_MARK = "Jinja Exception: ";

template <class Body> char * guarded(Body body) {
    try {
        return copy(body().dump());
    } catch (const std::bad_alloc &) {
        return failure("it needs more memory than there is", "template");
    } catch (const common_json_error & error) {
        return failure(error.what(), "input");
    } catch (const std::exception & error) {
        std::string text = error.what();
        size_t mark = text.rfind(RAISED_MARK);
        if (mark != std::string::npos) { return failure(text.substr(mark + strlen(RAISED_MARK)), "raised"); }
        return failure(text, "template");
    } catch (...) {
        return failure("an unknown fault", "template");
    }
}

struct recording_scope {
    recording store;
    recording_scope() { current_recording = &store; }
    ~recording_scope() { current_recording = nullptr; }
};

std::string text_of(const std::vector<jinja::string_part> & parts) {
    std::string text;
    for (const auto & part : parts) { text += part.val; }
    return text;
}

// The marked parts of `prompt`: those of the rendering it is, or begins with (some handlers append the words they want
// the model to begin with). Nothing found means that the handler rewrote the text: then all of it counts as input, so
// that nothing forged can become a control token; the Swift side refuses such a template by name.
bool find_parts(const recording & record, const std::string & prompt, std::vector<jinja::string_part> & out) {
    for (auto it = record.renderings.rbegin(); it != record.renderings.rend(); ++it) {
        std::string text = text_of(*it);
        if (text == prompt) { out = *it; return true; }
    }
    for (auto it = record.renderings.rbegin(); it != record.renderings.rend(); ++it) {
        std::string text = text_of(*it);
        if (!text.empty() && prompt.compare(0, text.size(), text) == 0) {
            out = *it;
            out.push_back({ false, prompt.substr(text.size()) });
            return true;
        }
    }
    return false;
}

std::string string_or(const common_json & object, const char * key, const std::string & fallback) {
    return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>() : fallback;
}

bool bool_or(const common_json & object, const char * key, bool fallback) {
    return object.contains(key) && object.at(key).is_boolean() ? object.at(key).get<bool>() : fallback;
}

}  // namespace

extern "C" alcove_chat_template * alcove_chat_open(const char * source, const char * bos, const char * eos, char ** error) {
    // The library's own log goes to the terminal from a thread of its own; what it would say comes back as errors.
    static const bool quiet = [] { common_log_pause(common_log_main()); return true; }();
    (void) quiet;
    alcove_chat_template * result = nullptr;
    char * text = guarded([&] {
        auto templates = common_chat_templates_init(nullptr, source, bos, eos);
        result = new alcove_chat_template{ std::move(templates) };
        return common_json::object();
    });
    if (result) { free(text); } else { *error = text; }
    return result;
}

extern "C" void alcove_chat_close(alcove_chat_template * chat) { delete chat; }

extern "C" char * alcove_chat_capabilities(const alcove_chat_template * chat) {
    return guarded([&] {
        common_json object = common_json::object();
        for (const auto & [name, value] : common_chat_templates_get_caps(chat->templates.get())) { object[name] = value; }
        object["thinking"] = common_chat_templates_support_enable_thinking(chat->templates.get());
        return object;
    });
}

extern "C" char * alcove_chat_apply(const alcove_chat_template * chat, const char * request_text) {
    return guarded([&] {
        auto request = common_json::parse(request_text);
        common_chat_templates_inputs inputs;
        inputs.messages = common_chat_msgs_parse_oaicompat(request.at("messages"));
        if (request.contains("tools") && request.at("tools").is_array() && !request.at("tools").empty()) {
            inputs.tools = common_chat_tools_parse_oaicompat(request.at("tools"));
        }
        inputs.tool_choice           = common_chat_tool_choice_parse_oaicompat(string_or(request, "tool_choice", "auto"));
        inputs.parallel_tool_calls   = bool_or(request, "parallel_tool_calls", true);
        inputs.enable_thinking       = bool_or(request, "enable_thinking", true);
        inputs.add_generation_prompt = bool_or(request, "add_generation_prompt", true);
        inputs.reasoning_format      = common_reasoning_format_from_name(string_or(request, "reasoning_format", "auto"));
        if (request.contains("json_schema") && !request.at("json_schema").is_null()) {
            inputs.json_schema = request.at("json_schema").dump();
        }
        if (request.contains("kwargs") && request.at("kwargs").is_object()) {
            for (const auto & [key, value] : request.at("kwargs").items()) { inputs.chat_template_kwargs[key] = value.dump(); }
        }
        recording_scope scope;
        if (request.contains("now") && request.at("now").is_number()) {
            scope.store.has_now = true;
            scope.store.now     = request.at("now").get<int64_t>();
            inputs.now          = std::chrono::system_clock::from_time_t((std::time_t) scope.store.now);
        }
        auto params = common_chat_templates_apply(chat->templates.get(), inputs);

        std::vector<jinja::string_part> parts;
        bool marked = find_parts(scope.store, params.prompt, parts);
        if (!marked) { parts = { { true, params.prompt } }; }
        common_json result = common_json::object();
        common_json list   = common_json::array();
        for (const auto & part : parts) {
            if (part.val.empty()) { continue; }
            common_json pair = common_json::array();
            pair.push_back(part.val);
            pair.push_back(part.is_input);
            list.push_back(pair);
        }
        result["parts"]             = list;
        result["marked"]            = marked;
        result["format"]            = (int) params.format;
        result["grammar"]           = params.grammar;
        result["grammar_lazy"]      = params.grammar_lazy;
        result["parser"]            = params.parser;
        result["generation_prompt"] = params.generation_prompt;
        result["stops"]             = params.additional_stops;
        result["preserved_tokens"]  = params.preserved_tokens;
        result["supports_thinking"] = params.supports_thinking;
        result["thinking_start"]    = params.thinking_start_tag;
        result["thinking_ends"]     = params.thinking_end_tags;
        common_json triggers = common_json::array();
        for (const auto & trigger : params.grammar_triggers) {
            common_json item = common_json::object();
            item["type"]  = (int) trigger.type;
            item["value"] = trigger.value;
            item["token"] = (int) trigger.token;
            triggers.push_back(item);
        }
        result["triggers"] = triggers;
        return result;
    });
}

extern "C" char * alcove_chat_parse(const char * request_text) {
    return guarded([&] {
        auto request = common_json::parse(request_text);
        common_chat_parser_params params;
        params.format            = (common_chat_format) request.at("format").get<int>();
        params.reasoning_format  = common_reasoning_format_from_name(string_or(request, "reasoning_format", "auto"));
        params.generation_prompt = string_or(request, "generation_prompt", "");
        std::string parser       = string_or(request, "parser", "");
        if (!parser.empty()) { params.parser.load(parser); }
        auto message = common_chat_parse(string_or(request, "text", ""), bool_or(request, "partial", false), params);
        return message.to_json_oaicompat();
    });
}

extern "C" char * alcove_chat_schema_grammar(const char * schema) {
    return guarded([&] {
        common_json result = common_json::object();
        result["grammar"] = json_schema_to_grammar(common_json::parse(schema));
        return result;
    });
}

extern "C" char * alcove_jinja_render(const char * request_text) {
    return guarded([&] {
        auto request = common_json::parse(request_text);
        jinja::lexer lexer;
        auto tokens  = lexer.tokenize(request.at("template").get<std::string>());
        auto program = jinja::parse_from_tokens(tokens);
        jinja::context context(tokens.source);
        jinja::global_from_json(context, request.at("context"), true);
        if (request.contains("now") && request.at("now").is_number()) {
            context.current_time = (std::time_t) request.at("now").get<int64_t>();
        }
        jinja::runtime runtime(context);
        common_json result = common_json::object();
        result["output"] = jinja::runtime::gather_string_parts(runtime.execute(program))->as_string().str();
        return result;
    });
}

extern "C" void alcove_chat_free(char * text) { free(text); }
