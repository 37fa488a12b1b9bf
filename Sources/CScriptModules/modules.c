// What is in `node/` and `python/`, as bytes of the program: nothing has to be found or read when a script starts.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CScriptModules.h"
#include <string.h>

static const char assert_js[] = {
#embed "node/assert.js"
};
static const char buffer_js[] = {
#embed "node/buffer.js"
};
static const char console_js[] = {
#embed "node/console.js"
};
static const char core_js[] = {
#embed "node/core.js"
};
static const char events_js[] = {
#embed "node/events.js"
};
static const char fs_js[] = {
#embed "node/fs.js"
};
static const char inspect_js[] = {
#embed "node/inspect.js"
};
static const char library_js[] = {
#embed "node/library.js"
};
static const char modern_js[] = {
#embed "node/modern.js"
};
static const char modules_js[] = {
#embed "node/modules.js"
};
static const char run_py[] = {
#embed "python/run.py"
};
static const char path_js[] = {
#embed "node/path.js"
};
static const char process_js[] = {
#embed "node/process.js"
};
static const char shapes_js[] = {
#embed "node/shapes.js"
};
static const char stream_js[] = {
#embed "node/stream.js"
};
static const char system_js[] = {
#embed "node/system.js"
};
static const char timers_js[] = {
#embed "node/timers.js"
};
static const char tokens_js[] = {
#embed "node/tokens.js"
};
static const char url_js[] = {
#embed "node/url.js"
};
static const char url_class_js[] = {
#embed "node/url-class.js"
};
static const char util_js[] = {
#embed "node/util.js"
};
static const char web_js[] = {
#embed "node/web.js"
};

static const struct {
    const char *name;
    const char *bytes;
    size_t count;
} files[] = {
    {"assert", assert_js, sizeof assert_js},
    {"buffer", buffer_js, sizeof buffer_js},
    {"console", console_js, sizeof console_js},
    {"core", core_js, sizeof core_js},
    {"events", events_js, sizeof events_js},
    {"fs", fs_js, sizeof fs_js},
    {"inspect", inspect_js, sizeof inspect_js},
    {"library", library_js, sizeof library_js},
    {"modern", modern_js, sizeof modern_js},
    {"modules", modules_js, sizeof modules_js},
    {"run.py", run_py, sizeof run_py},
    {"path", path_js, sizeof path_js},
    {"process", process_js, sizeof process_js},
    {"shapes", shapes_js, sizeof shapes_js},
    {"stream", stream_js, sizeof stream_js},
    {"system", system_js, sizeof system_js},
    {"timers", timers_js, sizeof timers_js},
    {"tokens", tokens_js, sizeof tokens_js},
    {"url", url_js, sizeof url_js},
    {"url-class", url_class_js, sizeof url_class_js},
    {"util", util_js, sizeof util_js},
    {"web", web_js, sizeof web_js},
};

const char *alcove_script_module(const char *name, size_t *count) {
    for (size_t index = 0; index < sizeof files / sizeof files[0]; index++) {
        if (strcmp(files[index].name, name) == 0) {
            *count = files[index].count;
            return files[index].bytes;
        }
    }
    return NULL;
}
