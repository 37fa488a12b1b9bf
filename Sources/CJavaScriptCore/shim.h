// JavaScriptCore as Debian's WebKitGTK has it, and three calls that its library has and its headers do not.
#ifndef ALCOVE_JAVASCRIPTCORE_SHIM_H
#define ALCOVE_JAVASCRIPTCORE_SHIM_H
#include <JavaScriptCore/JavaScript.h>
#include <stdbool.h>

/// Calls `callback` after so many seconds of processor time; when it says false the limit must be set again, or it is
/// never called once more.
JS_EXPORT void JSContextGroupSetExecutionTimeLimit(
    JSContextGroupRef group, double seconds, bool (*callback)(JSContextRef context, void *info), void *info);

/// Calls `function` with each promise that was rejected and found nobody, and the reason.
JS_EXPORT void JSGlobalContextSetUnhandledRejectionCallback(
    JSGlobalContextRef context, JSObjectRef function, JSValueRef *exception);

#endif
