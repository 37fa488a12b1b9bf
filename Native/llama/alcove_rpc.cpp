#include "alcove_rpc.h"

#include "ggml-backend.h"
#include "ggml-rpc.h"

#include <algorithm>
#include <atomic>
#include <vector>

static std::atomic<uint64_t> lost{0};
static std::atomic<int> seconds{600};

uint64_t alcove_rpc_lost(void) { return lost; }
void alcove_rpc_note_lost(void) { lost++; }
int alcove_rpc_seconds(void) { return seconds; }
void alcove_rpc_set_seconds(int wanted) { seconds = std::max(1, wanted); }

void alcove_rpc_serve(const char *endpoint, int threads) {
    std::vector<ggml_backend_dev_t> devices;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_GPU) devices.push_back(device);
    }
    if (devices.empty()) devices.push_back(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    ggml_backend_rpc_start_server(endpoint, nullptr, (size_t) threads, devices.size(), devices.data());
}
