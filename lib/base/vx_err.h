/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VX_ERR_H
#define VX_ERR_H

#include <rte_common.h>

/*
 * The reason why a configuration call was refused, in words for a person: what was wrong, what was
 * expected, what to do. The library never prints; whoever called it shows the text.
 */
struct vx_err {
	char text[240];
};

/* Set the text (if @err is not NULL) and return -@code, so that a caller can return it directly. */
int vx_err_set(struct vx_err *err, int code, const char *format, ...) __rte_format_printf(3, 4);

#endif
