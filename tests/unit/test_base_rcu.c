/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred calls: never before every reader has passed, and none lost, however many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include <pthread.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "eal_fixture.h"
#include "vx_rcu.h"

#define READERS	   3
#define QUEUE	   4096 /* what the queue of deferred calls holds at least */
#define MANY	   20000
#define GIVE_UP_MS 2000

static void
count_call(void *arg)
{
	unsigned int *calls = arg;

	(*calls)++;
}

static void
sleep_ms(long ms)
{
	const struct timespec span = {.tv_nsec = ms * 1000000};

	nanosleep(&span, NULL);
}

static void
quiescent(struct vx_rcu *rcu, unsigned int reader)
{
	rte_rcu_qsbr_quiescent(vx_rcu_qsbr(rcu), reader);
}

static unsigned int
heap_allocations(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.alloc_count;
}

static void
test_create_destroy_leaves_nothing(void **state)
{
	const unsigned int before = heap_allocations();
	struct vx_rcu *one, *two;

	(void)state;
	one = vx_rcu_create(1);
	two = vx_rcu_create(64);
	assert_non_null(one);
	assert_non_null(two);
	assert_ptr_not_equal(vx_rcu_qsbr(one), vx_rcu_qsbr(two));
	vx_rcu_destroy(one);
	vx_rcu_destroy(two);
	vx_rcu_destroy(NULL);
	assert_int_equal(heap_allocations(), before);
}

static void
test_create_refuses_no_readers(void **state)
{
	const unsigned int before = heap_allocations();

	(void)state;
	rte_errno = 0;
	assert_null(vx_rcu_create(0));
	assert_int_not_equal(rte_errno, 0);
	assert_int_equal(heap_allocations(), before);
}

static void
test_without_readers(void **state)
{
	struct vx_rcu *rcu = vx_rcu_create(READERS);
	unsigned int calls = 0;

	(void)state;
	vx_rcu_defer(rcu, count_call, &calls);
	vx_rcu_reclaim(rcu);
	assert_int_equal(calls, 1);
	vx_rcu_reclaim(rcu);
	vx_rcu_synchronize(rcu);
	assert_int_equal(calls, 1);
	vx_rcu_destroy(rcu);
	assert_int_equal(calls, 1);
}

static void
test_waits_for_every_reader(void **state)
{
	struct vx_rcu *rcu = vx_rcu_create(READERS);
	unsigned int first = 0, second = 0;

	(void)state;
	for (unsigned int i = 0; i < READERS; i++)
		vx_rcu_online(rcu, i);
	vx_rcu_defer(rcu, count_call, &first);
	quiescent(rcu, 0);
	quiescent(rcu, 0);
	quiescent(rcu, 2);
	vx_rcu_reclaim(rcu);
	assert_int_equal(first, 0);
	/* For what comes now, what readers 0 and 2 did before does not count. */
	vx_rcu_defer(rcu, count_call, &second);
	quiescent(rcu, 1);
	vx_rcu_reclaim(rcu);
	assert_int_equal(first, 1);
	assert_int_equal(second, 0);
	quiescent(rcu, 0);
	vx_rcu_reclaim(rcu);
	assert_int_equal(second, 0);
	quiescent(rcu, 2);
	vx_rcu_reclaim(rcu);
	assert_int_equal(second, 1);
	for (unsigned int i = 0; i < READERS; i++)
		vx_rcu_offline(rcu, i);
	vx_rcu_destroy(rcu);
	assert_int_equal(first + second, 2);
}

static void
test_reader_that_leaves_is_not_waited_for(void **state)
{
	struct vx_rcu *rcu = vx_rcu_create(READERS);
	unsigned int calls = 0;

	(void)state;
	vx_rcu_online(rcu, 1);
	vx_rcu_defer(rcu, count_call, &calls);
	vx_rcu_reclaim(rcu);
	assert_int_equal(calls, 0);
	vx_rcu_offline(rcu, 1);
	vx_rcu_reclaim(rcu);
	assert_int_equal(calls, 1);
	/* And once it is back it is. */
	vx_rcu_online(rcu, 1);
	vx_rcu_defer(rcu, count_call, &calls);
	vx_rcu_reclaim(rcu);
	assert_int_equal(calls, 1);
	vx_rcu_offline(rcu, 1);
	vx_rcu_destroy(rcu);
	assert_int_equal(calls, 2);
}

static void
test_free_gives_memory_back(void **state)
{
	struct vx_rcu *rcu = vx_rcu_create(READERS);
	const unsigned int before = heap_allocations();
	const void *memory = rte_malloc(NULL, 100, 0);

	(void)state;
	vx_rcu_online(rcu, 0);
	vx_rcu_free(rcu, memory);
	vx_rcu_free(rcu, NULL);
	vx_rcu_reclaim(rcu);
	assert_int_equal(heap_allocations(), before + 1);
	quiescent(rcu, 0);
	vx_rcu_reclaim(rcu);
	assert_int_equal(heap_allocations(), before);
	vx_rcu_offline(rcu, 0);
	vx_rcu_destroy(rcu);
}

/* A reader on its own thread that stays silent until it is told to go on, or for two seconds. */
struct reader {
	struct vx_rcu *rcu;
	unsigned int is_online, may_pass, has_passed, must_end;
	unsigned int pause_ms; /* before it passes */
};

static void *
silent_reader(void *arg)
{
	struct reader *r = arg;

	vx_rcu_online(r->rcu, 0);
	__atomic_store_n(&r->is_online, 1, __ATOMIC_RELEASE);
	for (unsigned int ms = 0; ms < GIVE_UP_MS; ms++) {
		if (__atomic_load_n(&r->may_pass, __ATOMIC_ACQUIRE) != 0)
			break;
		sleep_ms(1);
	}
	sleep_ms((long)r->pause_ms);
	__atomic_store_n(&r->has_passed, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&r->must_end, __ATOMIC_ACQUIRE) == 0) {
		quiescent(r->rcu, 0);
		sleep_ms(1);
	}
	vx_rcu_offline(r->rcu, 0);
	return NULL;
}

static pthread_t
start(struct reader *r, void *(*run)(void *arg))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, r), 0);
	while (__atomic_load_n(&r->is_online, __ATOMIC_ACQUIRE) == 0)
		sleep_ms(1);
	return thread;
}

static void
end(struct reader *r, pthread_t thread)
{
	__atomic_store_n(&r->must_end, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	vx_rcu_destroy(r->rcu);
}

static void
test_synchronize_waits(void **state)
{
	struct reader r = {.rcu = vx_rcu_create(READERS), .pause_ms = 50};
	const pthread_t thread = start(&r, silent_reader);
	unsigned int calls = 0;

	(void)state;
	vx_rcu_defer(r.rcu, count_call, &calls);
	assert_int_equal(calls, 0);
	assert_int_equal(__atomic_load_n(&r.has_passed, __ATOMIC_ACQUIRE), 0);
	__atomic_store_n(&r.may_pass, 1, __ATOMIC_RELEASE);
	vx_rcu_synchronize(r.rcu);
	assert_int_equal(__atomic_load_n(&r.has_passed, __ATOMIC_ACQUIRE), 1);
	assert_int_equal(calls, 1);
	end(&r, thread);
}

/* While no reader passes the calls pile up; then one synchronize makes all of them. */
static void
test_synchronize_makes_all_calls(void **state)
{
	struct reader r = {.rcu = vx_rcu_create(READERS)};
	const pthread_t thread = start(&r, silent_reader);
	unsigned int calls = 0;

	(void)state;
	for (unsigned int i = 0; i < QUEUE; i++)
		vx_rcu_defer(r.rcu, count_call, &calls);
	assert_int_equal(calls, 0);
	for (unsigned int i = 0; i < QUEUE / 2; i++)
		vx_rcu_defer(r.rcu, count_call, &calls);
	__atomic_store_n(&r.may_pass, 1, __ATOMIC_RELEASE);
	vx_rcu_synchronize(r.rcu);
	assert_int_equal(calls, QUEUE + QUEUE / 2);
	end(&r, thread);
	assert_int_equal(calls, QUEUE + QUEUE / 2);
}

static void
test_full_queue_waits_and_loses_nothing(void **state)
{
	struct reader r = {.rcu = vx_rcu_create(READERS), .may_pass = 1};
	const pthread_t thread = start(&r, silent_reader);
	unsigned int calls = 0;

	(void)state;
	for (unsigned int i = 0; i < MANY; i++)
		vx_rcu_defer(r.rcu, count_call, &calls);
	assert_true(calls >= MANY - 2 * QUEUE);
	vx_rcu_synchronize(r.rcu);
	assert_int_equal(calls, MANY);
	end(&r, thread);
	assert_int_equal(calls, MANY);
}

static void
test_destroy_makes_what_is_left(void **state)
{
	struct vx_rcu *rcu = vx_rcu_create(READERS);
	unsigned int calls = 0;

	(void)state;
	vx_rcu_online(rcu, 0);
	for (unsigned int i = 0; i < QUEUE + 100; i++) {
		vx_rcu_defer(rcu, count_call, &calls);
		if (i == QUEUE - 1)
			vx_rcu_offline(rcu, 0);
	}
	vx_rcu_destroy(rcu);
	assert_int_equal(calls, QUEUE + 100);
}

#define ALIVE 0x600dd00du
#define DEAD  0xdeaddeadu
#define SLOTS 8192

/* What a writer publishes and, when it is replaced, marks as dead. */
struct object {
	unsigned int mark;
};

struct swap {
	struct reader reader; /* first: start() and end() take it */
	struct object *shared;
	unsigned int looks, dead;
};

static void
bury(void *arg)
{
	struct object *object = arg;

	__atomic_store_n(&object->mark, DEAD, __ATOMIC_RELAXED);
}

static void *
looking_reader(void *arg)
{
	struct swap *s = arg;

	vx_rcu_online(s->reader.rcu, 0);
	__atomic_store_n(&s->reader.is_online, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->reader.must_end, __ATOMIC_ACQUIRE) == 0) {
		const struct object *seen = __atomic_load_n(&s->shared, __ATOMIC_ACQUIRE);

		for (unsigned int i = 0; i < 50; i++)
			if (__atomic_load_n(&seen->mark, __ATOMIC_RELAXED) != ALIVE)
				s->dead++;
		s->looks++;
		quiescent(s->reader.rcu, 0);
	}
	vx_rcu_offline(s->reader.rcu, 0);
	return NULL;
}

static void
test_reader_never_sees_the_dead(void **state)
{
	static struct object objects[SLOTS];
	struct swap s = {.reader.rcu = vx_rcu_create(READERS), .shared = &objects[0]};
	pthread_t thread;

	(void)state;
	for (unsigned int i = 0; i < SLOTS; i++)
		objects[i].mark = ALIVE;
	thread = start(&s.reader, looking_reader);
	for (unsigned int i = 1; i < SLOTS; i++) {
		struct object *old = __atomic_exchange_n(&s.shared, &objects[i], __ATOMIC_ACQ_REL);

		vx_rcu_defer(s.reader.rcu, bury, old);
		if (i % 64 == 0)
			vx_rcu_reclaim(s.reader.rcu);
		rte_delay_us_block(3); /* so that the reader is in between now and then */
	}
	vx_rcu_synchronize(s.reader.rcu);
	for (unsigned int i = 0; i < SLOTS; i++)
		assert_int_equal(objects[i].mark, i == SLOTS - 1 ? ALIVE : DEAD);
	end(&s.reader, thread);
	assert_int_equal(s.dead, 0);
	assert_true(s.looks > 100);
}

static int
setup(void **state)
{
	(void)state;
	return vx_test_eal();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_destroy_leaves_nothing),
		cmocka_unit_test(test_create_refuses_no_readers),
		cmocka_unit_test(test_without_readers),
		cmocka_unit_test(test_waits_for_every_reader),
		cmocka_unit_test(test_reader_that_leaves_is_not_waited_for),
		cmocka_unit_test(test_free_gives_memory_back),
		cmocka_unit_test(test_synchronize_waits),
		cmocka_unit_test(test_synchronize_makes_all_calls),
		cmocka_unit_test(test_full_queue_waits_and_loses_nothing),
		cmocka_unit_test(test_destroy_makes_what_is_left),
		cmocka_unit_test(test_reader_never_sees_the_dead),
	};

	return cmocka_run_group_tests_name("rcu", tests, setup, NULL);
}
