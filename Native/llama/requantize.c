// requantize IN OUT: a Q8_0 copy of a GGUF model. Some quantisations (Q4_1 among them) have no fast kernel on common
// processors; Q8_0 has one everywhere and loses practically nothing of what it is made from. Used by Scripts/bootstrap.
#include <stdio.h>
#include "llama.h"

static void silent(enum ggml_log_level level, const char *text, void *user) {
    (void)user;
    if (level == GGML_LOG_LEVEL_ERROR) { fputs(text, stderr); }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: requantize IN.gguf OUT.gguf\n", stderr);
        return 64;
    }
    llama_log_set(silent, NULL);
    llama_backend_init();
    struct llama_model_quantize_params params = llama_model_quantize_default_params();
    params.allow_requantize = true;
    params.ftype = LLAMA_FTYPE_MOSTLY_Q8_0;
    return llama_model_quantize(argv[1], argv[2], &params) == 0 ? 0 : 1;
}
