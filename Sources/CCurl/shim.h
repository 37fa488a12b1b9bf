// libcurl as Swift can call it: curl_easy_setopt and curl_easy_getinfo are variadic, and the callback that opens sockets
// has types of <sys/socket.h>, which for Swift would then belong to two modules.
#ifndef ALCOVE_CURL_SHIM_H
#define ALCOVE_CURL_SHIM_H
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

static inline CURLcode alcove_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/// The text is copied by the library.
static inline CURLcode alcove_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode alcove_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

/// Gets bytes; another count than `count` in return ends the transfer.
typedef size_t (*alcove_curl_sink)(const void *bytes, size_t count, void *context);

/// Whether a connection to an address may be made: 4 or 16 bytes in network order, or none for an unknown family.
typedef int (*alcove_curl_gate)(const uint8_t *address, size_t count, void *context);

struct alcove_curl_callbacks {
    alcove_curl_sink header;
    alcove_curl_sink body;
    alcove_curl_gate gate;
    void *context;
};

static inline size_t alcove_curl_take_header(char *bytes, size_t size, size_t count, void *callbacks) {
    const struct alcove_curl_callbacks *own = (const struct alcove_curl_callbacks *)callbacks;
    return own->header(bytes, size * count, own->context);
}

static inline size_t alcove_curl_take_body(char *bytes, size_t size, size_t count, void *callbacks) {
    const struct alcove_curl_callbacks *own = (const struct alcove_curl_callbacks *)callbacks;
    return own->body(bytes, size * count, own->context);
}

// Called with the very address the library is about to connect to, after names were resolved.
static inline curl_socket_t alcove_curl_open_socket(
    void *callbacks, curlsocktype purpose, struct curl_sockaddr *address) {
    const struct alcove_curl_callbacks *own = (const struct alcove_curl_callbacks *)callbacks;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    (void)purpose;
    if (address->family == AF_INET) {
        bytes = (const uint8_t *)&((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr;
        count = 4;
    } else if (address->family == AF_INET6) {
        bytes = (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr;
        count = 16;
    }
    if (!own->gate(bytes, count, own->context)) { return CURL_SOCKET_BAD; }
    int descriptor = socket(address->family, address->socktype, address->protocol);
    if (descriptor >= 0) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }
    return descriptor;
}

/// `callbacks` must stay where it is until the handle is gone.
static inline void alcove_curl_set_callbacks(CURL *easy, struct alcove_curl_callbacks *callbacks) {
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, alcove_curl_take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, callbacks);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, alcove_curl_take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, callbacks);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, alcove_curl_open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, callbacks);
}

/// The result of the transfer that has ended in this multi handle; -1 while none has.
static inline int alcove_curl_result(CURLM *multi) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) { return (int)message->data.result; }
    }
    return -1;
}

#endif
