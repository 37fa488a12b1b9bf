// Expat, which reads XML in pieces as they come.
#ifndef ALCOVE_EXPAT_SHIM_H
#define ALCOVE_EXPAT_SHIM_H
#include <expat.h>
#endif
