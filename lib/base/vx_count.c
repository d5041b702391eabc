/* SPDX-License-Identifier: BSD-3-Clause */
#include "vx_count.h"

static const struct vx_count_info infos[VX_COUNT_MAX] = {
#define VX_COUNT_INFO_DROP(symbol, label, words)                                                   \
	[VX_COUNT_DROP_##symbol] = {.name = (label), .text = (words), .is_drop = true},
	VX_DROP_LIST(VX_COUNT_INFO_DROP)
#undef VX_COUNT_INFO_DROP
#define VX_COUNT_INFO(symbol, label, words)                                                        \
	[VX_COUNT_##symbol] = {.name = (label), .text = (words)},
		VX_COUNT_LIST(VX_COUNT_INFO)
#undef VX_COUNT_INFO
};

_Static_assert((int)VX_COUNT_DROP_NO_MBUF == (int)VX_DROP_NO_MBUF,
	       "a drop reason is the index of its counter");

const struct vx_count_info *
vx_count_info(unsigned int index)
{
	return &infos[index];
}

const char *
vx_drop_name(enum vx_drop reason)
{
	return reason < VX_DROP_MAX ? infos[reason].name : "none";
}

void
vx_counts_add(struct vx_counts *sum, const struct vx_counts *from)
{
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++)
		sum->value[i] += __atomic_load_n(&from->value[i], __ATOMIC_RELAXED);
}

void
vx_counts_subtract(struct vx_counts *sum, const struct vx_counts *baseline)
{
	for (unsigned int i = 0; i < VX_COUNT_MAX; i++)
		sum->value[i] -= baseline->value[i];
}

uint64_t
vx_counts_drops(const struct vx_counts *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < VX_DROP_MAX; i++)
		total += counts->value[i];
	return total;
}
