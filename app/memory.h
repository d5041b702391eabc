/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* Bytes that the EAL has, and that it may still take from the machine's free hugepages. */
uint64_t memory_available(void);

#endif
