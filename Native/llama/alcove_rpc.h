#pragma once

/* What the engine asks of the library's RPC client, and of this processor as a worker. mend.py changes the client so that a
   lost worker is told here and does not end the process. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many connections to workers were lost since the process began. */
uint64_t alcove_rpc_lost(void);
/* Called by the client when it loses one. */
void alcove_rpc_note_lost(void);

/* Seconds that a worker may take for one answer; at least 1. The first, 600, is for a worker that computes 512 tokens of a large model. */
int alcove_rpc_seconds(void);
void alcove_rpc_set_seconds(int seconds);

/* Computes for whoever connects to a numeric IPv4 address and port, one after the other, on this machine's graphics processors or, where
   there are none, on its processor. Returns only when the address cannot be had. */
void alcove_rpc_serve(const char *endpoint, int threads);

#ifdef __cplusplus
}
#endif
