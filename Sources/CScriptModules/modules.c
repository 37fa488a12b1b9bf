// What is in `node/` and `python/`, as bytes of the program: nothing has to be found or read when a script starts.
#pragma clang diagnostic ignored "-Wc23-extensions"
#include "CScriptModules.h"
#include <string.h>

static const char assert_js[] = {
#embed "node/assert.js"
, 0
};
static const char buffer_js[] = {
#embed "node/buffer.js"
, 0
};
static const char console_js[] = {
#embed "node/console.js"
, 0
};
static const char core_js[] = {
#embed "node/core.js"
, 0
};
static const char events_js[] = {
#embed "node/events.js"
, 0
};
static const char fs_js[] = {
#embed "node/fs.js"
, 0
};
static const char inspect_js[] = {
#embed "node/inspect.js"
, 0
};
static const char library_js[] = {
#embed "node/library.js"
, 0
};
static const char modern_js[] = {
#embed "node/modern.js"
, 0
};
static const char modules_js[] = {
#embed "node/modules.js"
, 0
};
static const char run_py[] = {
#embed "python/run.py"
, 0
};
static const char path_js[] = {
#embed "node/path.js"
, 0
};
static const char process_js[] = {
#embed "node/process.js"
, 0
};
static const char shapes_js[] = {
#embed "node/shapes.js"
, 0
};
static const char stream_js[] = {
#embed "node/stream.js"
, 0
};
static const char system_js[] = {
#embed "node/system.js"
, 0
};
static const char timers_js[] = {
#embed "node/timers.js"
, 0
};
static const char tokens_js[] = {
#embed "node/tokens.js"
, 0
};
static const char url_js[] = {
#embed "node/url.js"
, 0
};
static const char url_class_js[] = {
#embed "node/url-class.js"
, 0
};
static const char util_js[] = {
#embed "node/util.js"
, 0
};
static const char web_js[] = {
#embed "node/web.js"
, 0
};

static const struct {
    const char *name;
    const char *bytes;
    size_t count;
} files[] = {
    {"assert", assert_js, sizeof assert_js - 1},
    {"buffer", buffer_js, sizeof buffer_js - 1},
    {"console", console_js, sizeof console_js - 1},
    {"core", core_js, sizeof core_js - 1},
    {"events", events_js, sizeof events_js - 1},
    {"fs", fs_js, sizeof fs_js - 1},
    {"inspect", inspect_js, sizeof inspect_js - 1},
    {"library", library_js, sizeof library_js - 1},
    {"modern", modern_js, sizeof modern_js - 1},
    {"modules", modules_js, sizeof modules_js - 1},
    {"run.py", run_py, sizeof run_py - 1},
    {"path", path_js, sizeof path_js - 1},
    {"process", process_js, sizeof process_js - 1},
    {"shapes", shapes_js, sizeof shapes_js - 1},
    {"stream", stream_js, sizeof stream_js - 1},
    {"system", system_js, sizeof system_js - 1},
    {"timers", timers_js, sizeof timers_js - 1},
    {"tokens", tokens_js, sizeof tokens_js - 1},
    {"url", url_js, sizeof url_js - 1},
    {"url-class", url_class_js, sizeof url_class_js - 1},
    {"util", util_js, sizeof util_js - 1},
    {"web", web_js, sizeof web_js - 1},
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
