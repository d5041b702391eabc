/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "vx_err.h"

static void
test_code_and_text(void **state)
{
	struct vx_err err = {"from before, and longer than what comes"};

	(void)state;
	assert_int_equal(vx_err_set(&err, EINVAL, "VNI %u: %s", 7u, "taken"), -EINVAL);
	assert_string_equal(err.text, "VNI 7: taken");
	assert_int_equal(vx_err_set(&err, ENOENT, "%s", ""), -ENOENT);
	assert_string_equal(err.text, "");
}

static void
test_nobody_wants_the_text(void **state)
{
	(void)state;
	assert_int_equal(vx_err_set(NULL, ENOSPC, "no room for %d", 1), -ENOSPC);
}

/* What a person typed may be of any length: the text ends inside its array. */
static void
test_long_text_is_cut(void **state)
{
	struct {
		struct vx_err err;
		char guard[16];
	} place;
	char word[1000];

	(void)state;
	for (size_t len = sizeof(place.err.text) - 3; len < sizeof(word); len += 3) {
		const size_t want = RTE_MIN(len + 1, sizeof(place.err.text) - 1);

		memset(&place, '#', sizeof(place));
		memset(word, 'w', sizeof(word));
		word[len] = '\0';
		assert_int_equal(vx_err_set(&place.err, E2BIG, "%s!", word), -E2BIG);
		assert_int_equal(strnlen(place.err.text, sizeof(place.err.text)), want);
		assert_memory_equal(place.err.text, word, want - 1);
		for (size_t i = 0; i < sizeof(place.guard); i++)
			assert_int_equal(place.guard[i], '#');
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_and_text),
		cmocka_unit_test(test_nobody_wants_the_text),
		cmocka_unit_test(test_long_text_is_cut),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
