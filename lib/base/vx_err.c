/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_err.h"

#include <stdarg.h>
#include <stdio.h>

int
vx_err_set(struct vx_err *err, int code, const char *format, ...)
{
	va_list ap;

	if (err != NULL) {
		va_start(ap, format);
		vsnprintf(err->text, sizeof(err->text), format, ap);
		va_end(ap);
	}
	return -code;
}
