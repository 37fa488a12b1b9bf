// See alcove_chat.h. This file is compiled INSTEAD of common/chat.cpp, which it includes: the library's template language
// can mark which parts of a rendered prompt came from input (common/jinja/README.md) and then throws the marks away inside
// a static function. Two calls of that function are renamed below so that the marks can be read, with no copy of the
// library to keep.
//
// The library marks input and forgets the mark in many places: tojson, join, all but the last piece of split, one
// character of a text, the keys of an object. So the mark is used the other way round here: it says "these are the
// template's own words", it is given to the literals of the template's source, and whatever loses it counts as input.
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
#include "unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
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

// A number as Python's repr writes it: the shortest digits that read back, 1.0 with its fraction, 1e+16 with an exponent.
std::string python_float(double number) {
    if (std::isnan(number)) { return "nan"; }
    if (std::isinf(number)) { return number < 0 ? "-inf" : "inf"; }
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::scientific).ptr;
    std::string text(buffer, end);
    size_t mark   = text.find('e');
    int  exponent = std::stoi(text.substr(mark + 1));
    if (exponent < -4 || exponent >= 16) { return text; }
    end = std::to_chars(buffer, buffer + sizeof(buffer), number, std::chars_format::fixed).ptr;
    text.assign(buffer, end);
    return text.find('.') == std::string::npos ? text + ".0" : text;
}

}  // namespace

namespace jinja {

// Text with the mark: words of the template, or of the host.
static value own_words(const std::string & text) { return mk_val<value_string>(string(text, true)); }

static bool is_own_words(const value & item) {
    return !is_val<value_string>(item) || item->val_str.all_parts_are_input();
}

struct own_literal : string_literal {
    using string_literal::string_literal;
    value execute_impl(context &) const override { return own_words(val); }
};

struct python_float_t : value_float_t {
    using value_float_t::value_float_t;
    string as_string() const override { return python_float(val_flt); }
};

// A null that prints as None.
struct shown_none_t : value_none_t {};

// JSON to values. Nothing here carries the mark, neither texts nor keys.
//
// Of a null, a template prints nothing: the library's parser analysis relies on that where content is missing. A null
// inside a call's arguments is shown, as it was when the model was trained.
static value value_of(const common_json & json, bool shows_null) {
    if (json.is_null()) {
        if (shows_null) { return std::make_shared<shown_none_t>(); }
        return mk_val<value_none>();
    }
    if (json.is_boolean()) { return mk_val<value_bool>(json.get<bool>()); }
    if (json.is_number_integer()) { return mk_val<value_int>(json.get<int64_t>()); }
    if (json.is_number_float()) { return std::make_shared<python_float_t>(json.get<double>()); }
    if (json.is_string()) { return mk_val<value_string>(json.get<std::string>()); }
    if (json.is_array()) {
        auto list = mk_val<value_array>();
        for (const auto & item : json) { list->push_back(value_of(item, shows_null)); }
        return list;
    }
    auto object = mk_val<value_object>();
    for (auto it = json.begin(); it != json.end(); ++it) {
        object->insert(it.key(), value_of(it.value(), shows_null || it.key() == "arguments"));
    }
    return object;
}

// repr(text): single quotes, unless there are single and no double ones inside.
static std::string python_repr(const std::string & text) {
    static const char * const hex = "0123456789abcdef";
    const char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
    std::string out(1, quote);
    for (unsigned char byte : text) {
        if (byte == (unsigned char) quote || byte == '\\') { out += '\\'; }
        switch (byte) {
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (byte < 0x20 || byte == 0x7F) {
                    out += "\\x";
                    out += hex[byte >> 4];
                    out += hex[byte & 15];
                } else {
                    out += (char) byte;
                }
        }
    }
    return out + quote;
}

static std::string python_str(const value & item, bool is_inside = false) {
    if (is_val<value_string>(item)) { return is_inside ? python_repr(item->as_string().str()) : item->as_string().str(); }
    if (is_val<value_float>(item)) { return python_float(item->as_float()); }
    if (is_val<value_none>(item)) { return "None"; }
    if (is_val<value_array>(item)) {
        const auto & list = item->as_array();
        const bool tuple  = item->is_immutable();
        std::string out   = tuple ? "(" : "[";
        for (size_t i = 0; i < list.size(); i++) { out += (i ? ", " : "") + python_str(list[i], true); }
        if (tuple && list.size() == 1) { out += ","; }
        return out + (tuple ? ")" : "]");
    }
    if (is_val<value_object>(item)) {
        std::string out = "{";
        for (const auto & [key, element] : item->as_ordered_object()) {
            out += (out.size() > 1 ? ", " : "") + python_str(key, true) + ": " + python_str(element, true);
        }
        return out + "}";
    }
    return item->is_undefined() ? "" : item->as_string().str();
}

// What {{ ... }} prints, as Python prints it: lists and objects by their repr (the library prints a list's items one after
// another, and of an object nothing), and None for a null that the template should show; see value_of.
struct printed : statement {
    statement_ptr inner;
    bool shows_null;
    printed(statement_ptr && inner, bool shows_null) : inner(std::move(inner)), shows_null(shows_null) { pos = this->inner->pos; }
    std::string type() const override { return "Printed"; }
    void visit(context & ctx) const override { ctx.visitor(false, this, { { "inner", { inner.get() } } }); }
    value execute_impl(context & ctx) const override {
        value result = inner->execute(ctx);
        bool shown = is_val<value_array>(result) || is_val<value_object>(result) || is_val<value_float>(result) ||
            is_val<shown_none_t>(result) || (shows_null && result->is_none());
        return shown ? mk_val<value_string>(python_str(result)) : result;
    }
};

static void wrap_printed(const statements & body, bool shows_null) {
    for (auto & node : const_cast<statements &>(body)) {
        if (is_stmt<expression>(node) && !is_stmt<string_literal>(node)) { node = std::make_unique<printed>(std::move(node), shows_null); }
    }
}

static void wrap_bodies(const statement * node, bool shows_null) {
    if (auto * item = dynamic_cast<const if_statement *>(node)) { wrap_printed(item->body, shows_null); wrap_printed(item->alternate, shows_null); }
    if (auto * item = dynamic_cast<const for_statement *>(node)) { wrap_printed(item->body, shows_null); wrap_printed(item->default_block, shows_null); }
    if (auto * item = dynamic_cast<const set_statement *>(node)) { wrap_printed(item->body, shows_null); }
    if (auto * item = dynamic_cast<const macro_statement *>(node)) { wrap_printed(item->body, shows_null); }
    if (auto * item = dynamic_cast<const filter_statement *>(node)) { wrap_printed(item->body, shows_null); }
    if (auto * item = dynamic_cast<const call_statement *>(node)) { wrap_printed(item->body, shows_null); }
}

// Where the characters of a text begin, and its end. A byte that is no UTF-8 is a character.
static std::vector<size_t> characters(const std::string & text) {
    std::vector<size_t> starts;
    for (size_t at = 0; at < text.size();) {
        starts.push_back(at);
        auto read = common_parse_utf8_codepoint(text, at);
        at += read.status == utf8_parse_result::SUCCESS ? read.bytes_consumed : 1;
    }
    starts.push_back(text.size());
    return starts;
}

// A piece of a text: its own words when all of the text is.
static value piece_of(const value & whole, const std::string & piece) {
    const bool own = !whole->val_str.parts.empty() && whole->val_str.all_parts_are_input();
    return own ? own_words(piece) : mk_val<value_string>(piece);
}

struct held : expression {
    value result;
    explicit held(value result) : result(std::move(result)) {}
    value execute_impl(context &) const override { return result; }
};

// object[index], of a text by characters and from the end too: the library takes bytes, and only from the beginning.
struct own_access : member_expression {
    using member_expression::member_expression;
    value execute_impl(context & ctx) const override {
        if (!computed || is_stmt<slice_expression>(property)) { return member_expression::execute_impl(ctx); }
        value whole = object->execute(ctx), index = property->execute(ctx);
        if (is_val<value_string>(whole) && is_val<value_int>(index)) {
            const std::string text = whole->as_string().str();
            const auto starts   = characters(text);
            const int64_t count = (int64_t) starts.size() - 1;
            const int64_t at    = index->as_int() < 0 ? index->as_int() + count : index->as_int();
            if (at < 0 || at >= count) { return mk_val<value_undefined>("str object"); }
            return piece_of(whole, text.substr(starts[at], starts[at + 1] - starts[at]));
        }
        member_expression known(std::make_unique<held>(whole), std::make_unique<held>(index), true);
        return known.execute_impl(ctx);
    }
};

// The language by itself is as strict as Python: these two take the place of nodes there. A chat's rendering keeps the
// library's leniency, which its analysis of templates and llama-server's users rely on.
static std::string undefined_text(const value & item) {
    const auto * undefined = cast_val<value_undefined>(item);
    return "'" + (undefined ? undefined->hint : std::string()) + "' is undefined";
}

struct strict_binary : binary_expression {
    using binary_expression::binary_expression;
    value execute_impl(context & ctx) const override {
        const std::string & name = op.value;
        if (name == "and" || name == "or") { return binary_expression::execute_impl(ctx); }
        value a = left->execute(ctx), b = right->execute(ctx);
        const bool texts = is_val<value_string>(a) && is_val<value_string>(b);
        if (name == "~" && !texts) {
            auto text = [](const value & item) { return is_val<value_string>(item) ? item->as_string() : string(python_str(item)); };
            string joined = text(a);
            return mk_val<value_string>(joined.append(text(b)));
        }
        if (name == "+" && !texts) {
            for (const value & item : { a, b }) {
                if (item->is_undefined()) { throw std::runtime_error(undefined_text(item)); }
            }
            if (a->is_none() || b->is_none() || is_val<value_string>(a) || is_val<value_string>(b)) {
                throw std::runtime_error("unsupported operands for +: " + a->type() + " and " + b->type());
            }
        }
        if ((name == "in" || name == "not in") && b->is_none()) { throw std::runtime_error("null is not iterable"); }
        binary_expression known(op, std::make_unique<held>(a), std::make_unique<held>(b));
        return known.execute_impl(ctx);
    }
};

// What stands before a dot or a bracket.
struct strict_object : expression {
    statement_ptr inner;
    std::string member;  // empty for a bracket
    strict_object(statement_ptr && inner, std::string member) : inner(std::move(inner)), member(std::move(member)) {
        pos = this->inner->pos;
    }
    void visit(context & ctx) const override { ctx.visitor(false, this, { { "inner", { inner.get() } } }); }
    value execute_impl(context & ctx) const override {
        static const std::set<std::string> changing = { "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort" };
        value object = inner->execute(ctx);
        if (object->is_undefined()) { throw std::runtime_error(undefined_text(object)); }
        if (is_val<value_array>(object) && !object->is_immutable() && changing.count(member)) {
            throw std::runtime_error("access to attribute '" + member + "' of 'list' object is unsafe");
        }
        return object;
    }
};

static void make_strict(const statement * node) {
    static_assert(sizeof(strict_binary) == sizeof(binary_expression), "replaced in place");
    if (auto * binary = const_cast<binary_expression *>(dynamic_cast<const binary_expression *>(node))) {
        token op   = binary->op;
        auto left  = std::move(binary->left), right = std::move(binary->right);
        size_t pos = binary->pos;
        binary->~binary_expression();
        (new (binary) strict_binary(op, std::move(left), std::move(right)))->pos = pos;
    } else if (auto * access = const_cast<member_expression *>(dynamic_cast<const member_expression *>(node))) {
        const auto * name = access->computed ? nullptr : cast_stmt<identifier>(access->property);
        access->object = std::make_unique<strict_object>(std::move(access->object), name ? name->val : "");
    }
}

// Makes every literal of a parsed template carry the mark, and every {{ ... }} print as Python does. The nodes are owned
// by pointers of many classes, so a literal is replaced where it lies; the new class adds no member.
static void mend_program(program & parsed, bool strict) {
    static_assert(sizeof(own_literal) == sizeof(string_literal), "replaced in place");
    wrap_printed(parsed.body, strict);
    std::vector<const statement *> open = stmts_to_ptr(parsed.body);
    context walker;
    walker.visitor = [&open](bool, const statement *, std::vector<visitor_pair> children) {
        for (auto & [label, nodes] : children) { open.insert(open.end(), nodes.begin(), nodes.end()); }
    };
    while (!open.empty()) {
        const statement * node = open.back();
        open.pop_back();
        if (!node) { continue; }
        if (auto * literal = const_cast<string_literal *>(dynamic_cast<const string_literal *>(node))) {
            std::string text = literal->val;
            size_t pos       = literal->pos;
            literal->~string_literal();
            (new (literal) own_literal(text))->pos = pos;
        } else if (auto * list = dynamic_cast<const array_literal *>(node)) {  // these three do not show their children
            for (const auto & item : list->val) { open.push_back(item.get()); }
        } else if (auto * tuple = dynamic_cast<const tuple_literal *>(node)) {
            for (const auto & item : tuple->val) { open.push_back(item.get()); }
        } else if (auto * object = dynamic_cast<const object_literal *>(node)) {
            for (const auto & pair : object->val) {
                open.push_back(pair.first.get());
                open.push_back(pair.second.get());
            }
        } else {
            wrap_bodies(node, strict);
            if (auto * access = const_cast<member_expression *>(dynamic_cast<const member_expression *>(node))) {
                static_assert(sizeof(own_access) == sizeof(member_expression), "replaced in place");
                auto object = std::move(access->object), property = std::move(access->property);
                const bool computed = access->computed;
                const size_t pos    = access->pos;
                access->~member_expression();
                (new (access) own_access(std::move(object), std::move(property), computed))->pos = pos;
            }
            if (strict) { make_strict(node); }
            node->visit(walker);
        }
    }
}

static void json_text(std::string & out, const std::string & text, bool ascii) {
    static const char * const hex = "0123456789abcdef";
    auto unit = [&out](uint32_t code) {
        out += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) { out += hex[(code >> shift) & 15]; }
    };
    out += '"';
    for (size_t at = 0; at < text.size();) {
        unsigned char byte = text[at];
        if (byte >= 0x80 && ascii) {
            auto read = common_parse_utf8_codepoint(text, at);
            bool good = read.status == utf8_parse_result::SUCCESS;
            uint32_t code = good ? read.codepoint : 0xFFFD;
            at += good ? read.bytes_consumed : 1;
            if (code >= 0x10000) {
                unit(0xD800 + ((code - 0x10000) >> 10));
                unit(0xDC00 + ((code - 0x10000) & 0x3FF));
            } else {
                unit(code);
            }
            continue;
        }
        at++;
        switch (byte) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default: if (byte < 0x20 || (byte == 0x7F && ascii)) { unit(byte); } else { out += (char) byte; }
        }
    }
    out += '"';
}

struct json_style {
    std::string item, key, indent;
    bool lines = false, ascii = false, sorted = false;
};

// json.dumps: numbers as Python writes them (the library's tojson keeps six digits and drops the fraction of 1.0).
static void json_value(std::string & out, const value & item, const json_style & style, int depth) {
    auto line = [&](int level) {
        if (!style.lines) { return; }
        out += '\n';
        for (int step = 0; step < level; step++) { out += style.indent; }
    };
    if (is_val<value_string>(item)) { return json_text(out, item->as_string().str(), style.ascii); }
    if (is_val<value_bool>(item)) { out += item->as_bool() ? "true" : "false"; return; }
    if (is_val<value_int>(item)) { out += std::to_string(item->as_int()); return; }
    if (is_val<value_float>(item)) {
        double number = item->as_float();
        out += std::isnan(number) ? "NaN" : std::isinf(number) ? (number < 0 ? "-Infinity" : "Infinity") : python_float(number);
        return;
    }
    if (is_val<value_array>(item)) {
        const auto & list = item->as_array();
        out += '[';
        for (size_t i = 0; i < list.size(); i++) {
            if (i) { out += style.item; }
            line(depth + 1);
            json_value(out, list[i], style, depth + 1);
        }
        if (!list.empty()) { line(depth); }
        out += ']';
        return;
    }
    if (is_val<value_object>(item)) {
        auto pairs = item->as_ordered_object();
        if (style.sorted) {
            std::sort(pairs.begin(), pairs.end(), [](const auto & a, const auto & b) {
                return a.first->as_string().str() < b.first->as_string().str();
            });
        }
        out += '{';
        for (size_t i = 0; i < pairs.size(); i++) {
            if (i) { out += style.item; }
            line(depth + 1);
            const auto & key = pairs[i].first;
            std::string name;
            if (!is_val<value_string>(key)) { json_value(name, key, style, 0); }
            json_text(out, is_val<value_string>(key) ? key->as_string().str() : name, style.ascii);
            out += style.key;
            json_value(out, pairs[i].second, style, depth + 1);
        }
        if (!pairs.empty()) { line(depth); }
        out += '}';
        return;
    }
    out += "null";
}

static value tojson_as_python(const func_args & args) {
    args.ensure_count(1, 5);
    value item = args.get_pos(0);
    if (args.ctx.is_get_stats) { value_t::stats_t::mark_used(item, true); }
    json_style style;
    value indent     = args.get_kwarg_or_pos("indent", 2);
    value separators = args.get_kwarg_or_pos("separators", 3);
    style.ascii      = args.get_kwarg_or_pos("ensure_ascii", 1)->as_bool();
    style.sorted     = args.get_kwarg_or_pos("sort_keys", 4)->as_bool();
    style.lines      = is_val<value_int>(indent) || is_val<value_string>(indent);
    if (is_val<value_int>(indent)) { style.indent.assign(std::max<int64_t>(0, indent->as_int()), ' '); }
    if (is_val<value_string>(indent)) { style.indent = indent->as_string().str(); }
    style.item = style.lines ? "," : ", ";
    style.key  = ": ";
    if (is_val<value_array>(separators) && separators->as_array().size() == 2) {
        style.item = separators->as_array()[0]->as_string().str();
        style.key  = separators->as_array()[1]->as_string().str();
    }
    std::string out;
    json_value(out, item, style, 0);
    return mk_val<value_string>(out);
}

static value str_as_python(const func_args & args) {
    value item = args.get_pos(0);
    if (args.ctx.is_get_stats) { value_t::stats_t::mark_used(item, true); }
    return mk_val<value_string>(python_str(item));
}

// The result of these keeps the mark by the text they work on alone; what they put into it may be input.
static func_handler minding_arguments(func_handler original) {
    return [original](const func_args & args) -> value {
        value result = original(args);
        bool own = true;
        for (const auto & item : args.get_args()) {
            own = own && is_own_words(is_val<value_kwarg>(item) ? cast_val<value_kwarg>(item)->val : item);
        }
        if (own || !is_val<value_string>(result)) { return result; }
        return mk_val<value_string>(result->as_string().str());
    };
}

static value length_in_characters(const func_args & args) {
    args.ensure_vals<value_string>();
    return mk_val<value_int>((int64_t) characters(args.get_pos(0)->as_string().str()).size() - 1);
}

// text[start:stop:step]. The library fills in what is left out, and counts bytes: the end it fills in may lie beyond.
static value slice_of_characters(const func_args & args) {
    args.ensure_count(4, 4);
    value whole = args.get_pos(0);
    const std::string text = whole->as_string().str();
    const auto starts  = characters(text);
    const int64_t count = (int64_t) starts.size() - 1, bytes = (int64_t) text.size();
    int64_t start = args.get_pos(1)->as_int(), stop = args.get_pos(2)->as_int(), step = args.get_pos(3)->as_int();
    if (step == 0) { throw std::runtime_error("slice step cannot be zero"); }
    if (step < 0 && start == bytes - 1) { start = count - 1; }
    if (start < 0) { start += count; }
    if (stop < 0 && !(step < 0 && stop == -1)) { stop += count; }
    start = step > 0 ? std::clamp<int64_t>(start, 0, count) : std::clamp<int64_t>(start, -1, count - 1);
    stop  = step > 0 ? std::clamp<int64_t>(stop, 0, count) : std::clamp<int64_t>(stop, -1, count - 1);
    std::string out;
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) { out += text.substr(starts[i], starts[i + 1] - starts[i]); }
    return piece_of(whole, out);
}

// text.split() with no separator: at white space, with no empty pieces.
static func_handler splitting(func_handler original) {
    return [original](const func_args & args) -> value {
        value whole = args.get_pos(0);
        if (args.count() > 1 && !args.get_pos(1)->is_none()) { return original(args); }
        auto list = mk_val<value_array>();
        std::istringstream words(whole->as_string().str());
        for (std::string word; words >> word;) { list->push_back(piece_of(whole, word)); }
        return list;
    };
}

static func_handler mapping(func_handler original) {
    return [original](const func_args & args) -> value {
        if (args.count() < 2 || !is_val<value_string>(args.get_args()[1])) { return original(args); }
        std::string name = args.get_pos(1)->as_string().str();
        if (name == "trim") { name = "strip"; }
        auto list = mk_val<value_array>();
        for (const auto & item : args.get_pos(0)->as_array()) {
            auto function = item->get_builtins().find(name);
            if (function == item->get_builtins().end()) { throw std::runtime_error("no filter '" + name + "' for " + item->type()); }
            func_args inner(args.ctx);
            inner.push_back(item);
            for (size_t i = 2; i < args.count(); i++) { inner.push_back(args.get_args()[i]); }
            list->push_back(function->second(inner));
        }
        return list;
    };
}

// list|select('odd'): the library takes the test's name for an attribute's.
static func_handler selecting(func_handler original, bool rejects) {
    return [original, rejects](const func_args & args) -> value {
        if (args.count() < 2 || !is_val<value_string>(args.get_args()[1])) { return original(args); }
        auto test = global_builtins().find("test_is_" + args.get_pos(1)->as_string().str());
        if (test == global_builtins().end()) { throw std::runtime_error("no test '" + args.get_pos(1)->as_string().str() + "'"); }
        auto list = mk_val<value_array>();
        for (const auto & item : args.get_pos(0)->as_array()) {
            func_args inner(args.ctx);
            inner.push_back(item);
            for (size_t i = 2; i < args.count(); i++) { inner.push_back(args.get_args()[i]); }
            if (test->second(inner)->as_bool() != rejects) { list->push_back(item); }
        }
        return list;
    };
}

// Puts ours in the place of some functions of the library. Only entries are replaced, before any template runs.
static bool mend_functions() {
    auto entry = [](const func_builtins & table, const char * name) { return const_cast<func_handler *>(&table.at(name)); };
    for (const value & kind : std::vector<value>{ mk_val<value_int>(0), mk_val<value_float>(0.0), mk_val<value_string>(),
             mk_val<value_bool>(false), mk_val<value_array>(), mk_val<value_object>(), mk_val<value_none>() }) {
        *entry(kind->get_builtins(), "tojson") = tojson_as_python;
    }
    *entry(global_builtins(), "tojson") = tojson_as_python;
    for (const value & number : std::vector<value>{ mk_val<value_int>(0), mk_val<value_float>(0.0) }) {
        *entry(number->get_builtins(), "string") = str_as_python;
        *entry(number->get_builtins(), "safe")   = str_as_python;
    }
    *entry(mk_val<value_array>()->get_builtins(), "string")  = str_as_python;
    *entry(mk_val<value_object>()->get_builtins(), "string") = str_as_python;
    value text = mk_val<value_string>();
    for (const char * name : { "replace", "indent" }) {
        auto * function = entry(text->get_builtins(), name);
        *function = minding_arguments(*function);
    }
    *entry(text->get_builtins(), "length") = length_in_characters;
    *entry(text->get_builtins(), "slice")  = slice_of_characters;
    *entry(text->get_builtins(), "split")  = splitting(text->get_builtins().at("split"));
    value list = mk_val<value_array>();
    *entry(list->get_builtins(), "map")    = mapping(list->get_builtins().at("map"));
    *entry(list->get_builtins(), "select") = selecting(list->get_builtins().at("select"), false);
    *entry(list->get_builtins(), "reject") = selecting(list->get_builtins().at("reject"), true);
    // Dividing by zero ends the process.
    *entry(global_builtins(), "test_is_divisibleby") = [](const func_args & args) -> value {
        args.ensure_vals<value_int, value_int>();
        int64_t by = args.get_pos(1)->as_int();
        if (by == 0) { throw std::runtime_error("integer modulo by zero"); }
        return mk_val<value_bool>(by == -1 || args.get_pos(0)->as_int() % by == 0);
    };
    return true;
}

static void mend_functions_once() {
    static const bool done = mend_functions();
    (void) done;
}

// As global_from_json, but words of the host are given the mark: the BOS and EOS texts (they come through the same door
// as messages), and role names, of which templates build control tokens: '<|' + message.role + '|>'.
static void fill_context(context & ctx, const common_json & object, bool shows_null) {
    if (!object.is_object()) { throw std::runtime_error("the context should be an object"); }
    for (auto it = object.begin(); it != object.end(); ++it) { ctx.set_val(it.key(), value_of(it.value(), shows_null)); }
    for (const char * name : { "bos_token", "eos_token" }) {
        if (object.contains(name) && object.at(name).is_string()) {
            ctx.set_val(name, own_words(object.at(name).get<std::string>()));
        }
    }
    if (object.contains("messages") && object.at("messages").is_array()) {
        auto messages = ctx.get_val("messages");
        for (const auto & item : messages->as_array()) {
            if (!is_val<value_object>(item)) { continue; }
            value none = mk_val<value_undefined>("role");
            auto role = item->at("role", none);
            if (is_val<value_string>(role) && is_known_role(role->as_string().str())) {
                item->insert(mk_val<value_string>("role"), own_words(role->as_string().str()));
            }
        }
    }
    if (current_recording && current_recording->has_now) { ctx.current_time = (std::time_t) current_recording->now; }
}

static void global_from_json_marked(context & ctx, const common_json & object, bool) { fill_context(ctx, object, false); }

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

// What lexer and parser say, with the line. They show the place, 40 bytes of source before and after it, with a mark
// under it, and do not number it.
std::string fault_of_source(const std::string & text, const std::string & source) {
    size_t shown = text.find('\n'), mark = text.rfind('\n');
    std::string words = text.substr(0, shown);
    for (const char * prefix : { "lexer: ", "parser: ", "Parser Error: " }) {
        if (words.compare(0, strlen(prefix), prefix) == 0) { words.erase(0, strlen(prefix)); }
    }
    if (shown == std::string::npos || mark == shown) { return "Error: " + words; }
    std::string around = text.substr(shown + 1, mark - shown - 1);
    if (around.size() < 6) { return "Error: " + words; }
    around = around.substr(3, around.size() - 6);
    string_replace_all(around, "\u21b5", "\n");
    size_t column = text.size() - mark - 2, at = source.find(around);
    if (at == std::string::npos || column < 3) { return "Error: " + words; }
    auto line = 1 + std::count(source.begin(), source.begin() + std::min(source.size(), at + column - 3), '\n');
    return "line " + std::to_string(line) + "\nError: " + words;
}

// The token at which a parse fails: what comes after it does not matter, and without it the fault is another.
size_t failing_token(const jinja::lexer_result & read, const std::string & words) {
    auto fails_alike = [&](size_t count) {
        jinja::lexer_result part;
        part.source = read.source;
        part.tokens.assign(read.tokens.begin(), read.tokens.begin() + count);
        try { jinja::parse_from_tokens(part); } catch (const std::exception & error) { return error.what() == words; }
        return false;
    };
    size_t low = 0, high = read.tokens.size();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fails_alike(middle)) { high = middle; } else { low = middle + 1; }
    }
    return high == 0 ? 0 : high - 1;
}

// Parses a template; `source` becomes what positions are counted in.
jinja::program parsed(std::string & source) {
    jinja::lexer_result read;
    try {
        jinja::lexer lexer;
        read   = lexer.tokenize(source);
        source = read.source;
        return jinja::parse_from_tokens(read);
    } catch (const std::exception & error) {
        std::string words = error.what();
        if (words.find('\n') != std::string::npos || read.tokens.empty()) {
            throw std::runtime_error(fault_of_source(words, source));
        }
        size_t at = std::min(source.size(), read.tokens[failing_token(read, words)].pos);
        auto line = 1 + std::count(source.begin(), source.begin() + at, '\n');
        throw std::runtime_error("line " + std::to_string(line) + "\nError: " + words.substr(0, words.find(" of type ")));
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

// The marked parts of `prompt`: those of the rendering it is, or that it is with the generation prompt after it (some
// handlers append the words they want the model to begin with). Nothing found means that the handler rewrote the text:
// then all of it counts as input, so that nothing forged can become a control token; the Swift side refuses such a
// template by name.
bool find_parts(
    const recording & record, const std::string & prompt, const std::string & generation_prompt,
    std::vector<jinja::string_part> & out
) {
    for (const std::string & appended : { std::string(), generation_prompt }) {
        for (auto it = record.renderings.rbegin(); it != record.renderings.rend(); ++it) {
            if (text_of(*it) + appended != prompt) { continue; }
            out = *it;
            out.push_back({ true, appended });
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
    jinja::mend_functions_once();
    alcove_chat_template * result = nullptr;
    char * text = guarded([&] {
        std::string read = source;
        parsed(read);  // the library says of a template it cannot read no more than that it cannot
        auto templates = common_chat_templates_init(nullptr, source, bos, eos);
        for (auto * parsed : { templates->template_default.get(), templates->template_tool_use.get() }) {
            if (parsed) { jinja::mend_program(parsed->prog, false); }
        }
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
        common_chat_params params;
        try {
            params = common_chat_templates_apply(chat->templates.get(), inputs);
        } catch (const std::invalid_argument &) {
            // The library learns from trial renderings how a template's answers are to be read. Where it cannot, the
            // conversation may still be rendered: answers are then read as text. Where it is the template or its input
            // that fails, this fails too, and says why without the library's own story around it.
            inputs.force_pure_content = true;
            scope.store.renderings.clear();
            params = common_chat_templates_apply(chat->templates.get(), inputs);
        }

        std::vector<jinja::string_part> parts;
        bool marked = find_parts(scope.store, params.prompt, params.generation_prompt, parts);
        if (!marked) { parts = { { false, params.prompt } }; }
        common_json result = common_json::object();
        common_json list   = common_json::array();
        for (const auto & part : parts) {
            if (part.val.empty()) { continue; }
            common_json pair = common_json::array();
            pair.push_back(part.val);
            pair.push_back(!part.is_input);  // the mark says "own words" here
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
    jinja::mend_functions_once();
    return guarded([&] {
        auto request = common_json::parse(request_text);
        auto source  = request.at("template").get<std::string>();
        auto program = parsed(source);
        jinja::context context(source);
        jinja::mend_program(program, true);
        jinja::fill_context(context, request.at("context"), true);
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
