"""mend.py LLAMA_FOLDER: what Alcove changes in llama.cpp when it is built.

**A lost worker ends an answer instead of the process.** The library's RPC client aborts as soon as a worker cannot be reached or
breaks off. Here the connection is marked as lost instead: everything that is asked of it afterwards is answered with zeros at once,
and a computation fails. alcove_rpc.h says so to the engine, which gives the model up and may load it again. A worker whose machine is
gone without a word is noticed by keep-alive probes, one that hangs by a time limit.

**Short pieces of a prompt take the fast attention.** On the processor the library computes attention in tiles of 64 rows, and from 63
rows down it goes row by row, which at 2,000 tokens is as slow as writing. A follow-up is such a short piece. Here tiles serve from 9 rows
on, compute no more rows than there are, and a thread takes whole heads, so that none is unpacked twice. 8 rows and fewer, the sizes of
guesses, stay row by row: their numbers are those of plain writing.

Each edit must fit exactly, so a library that has changed stops the build.
"""

import sys
from pathlib import Path


def edit(path, *pairs):
    text = path.read_text()
    for old, new, count in pairs:
        if text.count(old) != count:
            raise SystemExit(f"{path.name}: {old!r} is there {text.count(old)} times, not {count}; look at Native/llama/mend.py")
        text = text.replace(old, new)
    path.write_text(text)


folder = Path(sys.argv[1]) / "ggml/src/ggml-rpc"
abort = 'RPC_STATUS_ASSERT(status);'
edit(
    folder / "ggml-rpc.cpp",
    ('#include "transport.h"\n', '#include "transport.h"\n#include "alcove_rpc.h"\n', 1),
    # A worker that answers the greeting with something else.
    (f"    {abort}\n\n    if (response.major", "    if (!status) { return false; }\n\n    if (response.major", 1),
    # The connection is made, or marked as lost; its thread answers either way.
    ("    std::atomic_bool running;\n", "    std::atomic_bool running;\npublic:\n    std::atomic_bool lost { false };\n"
     "    void lose() { if (!lost.exchange(true)) { alcove_rpc_note_lost(); } }\n", 1),
    ('        GGML_ABORT("Failed to parse endpoint: %s\\n", endpoint.c_str());', "        lose();", 1),
    ('        GGML_ABORT("RPC transport initialization failed\\n");', "        lose();", 1),
    ("    sock = socket_t::connect(host.c_str(), port);\n", "    sock = lost ? nullptr : socket_t::connect(host.c_str(), port);\n", 1),
    ('        GGML_ABORT("Failed to connect to %s\\n", endpoint.c_str());\n    }\n    if (!negotiate_hello(sock)) {',
     "        lose();\n    } else if (!negotiate_hello(sock)) {", 1),
    ('        GGML_ABORT("RPC handshake failed for %s\\n", endpoint.c_str());', "        lose();", 1),
    # A lost connection is not taken up again, even while a model that is given up still holds it.
    ("        if (auto dispatcher = it->second.lock()) {\n            return dispatcher;",
     "        if (auto dispatcher = it->second.lock(); dispatcher && !dispatcher->lost) {\n            return dispatcher;", 1),
    # What is asked of a lost one.
    ("bool status = send_rpc_cmd(sock, msg_ptr->cmd,", "bool status = !lost && send_rpc_cmd(sock, msg_ptr->cmd,", 2),
    (f"                {abort}\n", "                if (!status) { lose(); if (msg_ptr->output) { memset(msg_ptr->output, 0, msg_ptr->output_size); } }\n", 2),
    # Zeros that the library itself would stumble over.
    ("    return response.alignment;", "    return response.alignment ? response.alignment : 256;", 1),
    ("    return response.max_size;", "    return response.max_size ? response.max_size : SIZE_MAX;", 1),
    ("    ctx->base_ptr = reinterpret_cast<void *>(response.base_ptr);\n",
     "    if (response.base_ptr == 0) { return reinterpret_cast<void *>(0x1000); }\n"
     "    ctx->base_ptr = reinterpret_cast<void *>(response.base_ptr);\n", 1),
    ("async(RPC_CMD_GRAPH_COMPUTE, input_ptr, input_size);\n    }\n    return GGML_STATUS_SUCCESS;",
     "async(RPC_CMD_GRAPH_COMPUTE, input_ptr, input_size);\n    }\n"
     "    return rpc_ctx->dispatcher->lost ? GGML_STATUS_FAILED : GGML_STATUS_SUCCESS;", 1),
)
edit(
    folder / "transport.cpp",
    ('#include "ggml-impl.h"\n', '#include "ggml-impl.h"\n#include "alcove_rpc.h"\n', 1),
    ("static bool set_reuse_addr(", """static void set_limits(int sockfd) {
    int on = 1, idle = 10, every = 5, count = 3;
    setsockopt(sockfd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
#ifdef __linux__
    setsockopt(sockfd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(sockfd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
    setsockopt(sockfd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
#else
    (void) every; (void) count;
    setsockopt(sockfd, IPPROTO_TCP, TCP_KEEPALIVE, &idle, sizeof(idle));
#endif
}

static bool set_reuse_addr(""", 1),
    ("    auto client_socket_fd = ::accept(pimpl->fd, NULL, NULL);\n",
     "    auto client_socket_fd = ::accept(pimpl->fd, NULL, NULL);\n    set_limits(client_socket_fd);\n", 1),
    ("    struct hostent * server = gethostbyname(host);\n",
     "    set_limits(sockfd);\n"
     "    struct timeval limit = { alcove_rpc_seconds(), 0 };\n"
     "    setsockopt(sockfd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));\n"
     "    setsockopt(sockfd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));\n"
     "    struct hostent * server = gethostbyname(host);\n", 1),
)

operations = Path(sys.argv[1]) / "ggml/src/ggml-cpu/ops.cpp"
edit(
    operations,
    ("                                neq1 >= Q_TILE_SZ);", "                                neq1 > 8);", 1),
    ("        const int64_t dr = (nr + nchunk - 1) / nchunk;\n\n        static constexpr int64_t Q_TILE_SZ",
     "        int64_t dr = (nr + nchunk - 1) / nchunk;\n\n        static constexpr int64_t Q_TILE_SZ", 1),
    ("        int current_chunk = ith;\n\n        while (current_chunk < nchunk) {\n            const int64_t ir0 = dr * current_chunk;\n"
     "            const int64_t ir1 = MIN(ir0 + dr, nr);\n\n            if (use_tiled) {",
     "        if (use_tiled && neq1 < Q_TILE_SZ && !disable_chunking) {\n            dr = neq1;\n            nchunk = nr / neq1;\n        }\n"
     "        int current_chunk = ith;\n\n        while (current_chunk < nchunk) {\n            const int64_t ir0 = dr * current_chunk;\n"
     "            const int64_t ir1 = MIN(ir0 + dr, nr);\n\n            if (use_tiled) {", 1),
    ("simd_gemm(KQ, (const float *)Q_q, K_f32, Q_TILE_SZ, DK, KV_TILE_SZ);",
     "simd_gemm(KQ, (const float *)Q_q, K_f32, tile_rows, DK, KV_TILE_SZ);", 1),
    ("simd_gemm(VKQ32, KQ, V32, Q_TILE_SZ, KV_TILE_SZ, DV);", "simd_gemm(VKQ32, KQ, V32, tile_rows, KV_TILE_SZ, DV);", 1),
    ("ggml_vec_scale_f32(Q_TILE_SZ * KV_TILE_SZ, KQ, scale);", "ggml_vec_scale_f32(tile_rows * KV_TILE_SZ, KQ, scale);", 1),
    ("            memset(KQ, 0, Q_TILE_SZ * KV_TILE_SZ * sizeof(float));", "            memset(KQ, 0, tile_rows * KV_TILE_SZ * sizeof(float));", 1),
    ("for (int tq = 0; tq < Q_TILE_SZ; tq++)", "for (int tq = 0; tq < tile_rows; tq++)", 3),
)
