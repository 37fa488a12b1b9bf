// CPython as Swift can call it: its macros, as functions, and its headers after those whose types they would change.
#ifndef ALCOVE_PYTHON_SHIM_H
#define ALCOVE_PYTHON_SHIM_H
// Python.h asks for another edition of POSIX, in which fd_set is not what Swift's Dispatch has seen.
#include <features.h>
#include <sys/select.h>
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/// Raises PermissionError with a sentence and, where there is one, the path it is about.
static inline void alcove_py_refuse(const char *sentence, const char *path) {
    PyObject *arguments =
        path != NULL ? Py_BuildValue("(iss)", 13, sentence, path) : Py_BuildValue("(is)", 13, sentence);
    if (arguments != NULL) {
        PyErr_SetObject(PyExc_PermissionError, arguments);
        Py_DECREF(arguments);
    }
}

typedef int (*alcove_py_hook)(const char *event, PyObject *arguments, void *context);

static inline int alcove_py_set(PyConfig *config, wchar_t **field, const char *value) {
    return PyStatus_Exception(PyConfig_SetBytesString(config, field, value));
}

/// Starts the interpreter: isolated from the environment, with no site, no signal handlers, no written bytecode.
///
/// - paths: where modules are looked for, ended by NULL.
/// Returns 0, or 1 when it cannot be started.
static inline int alcove_py_start(const char *const *paths, const char *prefix, alcove_py_hook hook) {
    PyPreConfig before;
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    if (PyStatus_Exception(Py_PreInitialize(&before))) { return 1; }
    if (PySys_AddAuditHook(hook, NULL) != 0) { return 1; }
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    config.install_signal_handlers = 0;
    config.write_bytecode = 0;
    config.parse_argv = 0;
    int isBad = alcove_py_set(&config, &config.program_name, "python3")
        || alcove_py_set(&config, &config.executable, "/usr/bin/python3")
        || alcove_py_set(&config, &config.base_executable, "/usr/bin/python3")
        || alcove_py_set(&config, &config.prefix, prefix) || alcove_py_set(&config, &config.exec_prefix, prefix)
        || alcove_py_set(&config, &config.base_prefix, prefix)
        || alcove_py_set(&config, &config.base_exec_prefix, prefix);
    config.module_search_paths_set = 1;
    for (; !isBad && *paths != NULL; paths++) {
        wchar_t *wide = Py_DecodeLocale(*paths, NULL);
        isBad = wide == NULL || PyStatus_Exception(PyWideStringList_Append(&config.module_search_paths, wide));
        PyMem_RawFree(wide);
    }
    if (!isBad) { isBad = PyStatus_Exception(Py_InitializeFromConfig(&config)); }
    PyConfig_Clear(&config);
    return isBad;
}

/// Makes a module of a source.  Returns 0, or 1 with what went wrong on the standard error.
static inline int alcove_py_add_module(const char *name, const char *source) {
    PyObject *code = Py_CompileString(source, "<alcove>", Py_file_input);
    PyObject *module = code != NULL ? PyImport_ExecCodeModule(name, code) : NULL;
    if (module == NULL) { PyErr_Print(); }
    Py_XDECREF(code);
    Py_XDECREF(module);
    return module == NULL;
}

/// Calls a function of a module with one text; what it gives back is a whole number. -1 for a fault of its own.
static inline int alcove_py_call(const char *module_name, const char *function_name, const char *text) {
    int status = -1;
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *function = module != NULL ? PyObject_GetAttrString(module, function_name) : NULL;
    PyObject *argument = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *answer = function != NULL && argument != NULL ? PyObject_CallOneArg(function, argument) : NULL;
    if (answer != NULL && PyLong_Check(answer)) { status = (int)PyLong_AsLong(answer); }
    if (answer == NULL) { PyErr_Print(); }
    Py_XDECREF(module);
    Py_XDECREF(function);
    Py_XDECREF(argument);
    Py_XDECREF(answer);
    return status;
}

/// An item of a tuple, borrowed; NULL when it has none.
static inline PyObject *alcove_py_item(PyObject *tuple, int index) {
    if (tuple == NULL || !PyTuple_Check(tuple) || index >= PyTuple_GET_SIZE(tuple)) { return NULL; }
    return PyTuple_GET_ITEM(tuple, index);
}

/// A text, or the text of bytes or of something with a path, to be given to free(); NULL for anything else.
static inline char *alcove_py_text(PyObject *object) {
    if (object == NULL) { return NULL; }
    PyObject *bytes = NULL;
    if (PyUnicode_Check(object)) {
        bytes = PyUnicode_EncodeFSDefault(object);
    } else if (PyBytes_Check(object)) {
        Py_INCREF(object);
        bytes = object;
    } else if (PyObject_HasAttrString(object, "__fspath__")) {
        PyObject *path = PyOS_FSPath(object);
        char *found = alcove_py_text(path);
        Py_XDECREF(path);
        PyErr_Clear();
        return found;
    }
    char *copy = bytes != NULL ? strdup(PyBytes_AS_STRING(bytes)) : NULL;
    Py_XDECREF(bytes);
    PyErr_Clear();
    return copy;
}

/// A whole number; `otherwise` for anything else.
static inline long alcove_py_number(PyObject *object, long otherwise) {
    if (object == NULL || !PyLong_Check(object)) { return otherwise; }
    int overflow = 0;
    long value = PyLong_AsLongAndOverflow(object, &overflow);
    return overflow != 0 ? otherwise : value;
}

#endif
