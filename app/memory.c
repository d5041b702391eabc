/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <dirent.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_memory.h>

#define HUGEPAGES "/sys/kernel/mm/hugepages"

/* One number in a file; 0 if it cannot be read. */
static uint64_t
read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long number = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

/* Bytes in hugepages that nobody uses. */
static uint64_t
free_hugepages(void)
{
	DIR *dir = opendir(HUGEPAGES);
	const struct dirent *entry;
	uint64_t bytes = 0;

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		char path[sizeof(HUGEPAGES) + sizeof(entry->d_name) + sizeof("/free_hugepages")];
		unsigned long long kib;

		if (sscanf(entry->d_name, "hugepages-%llukB", &kib) != 1)
			continue;
		snprintf(path, sizeof(path), HUGEPAGES "/%s/free_hugepages", entry->d_name);
		bytes += read_number(path) * kib * 1024;
	}
	closedir(dir);
	return bytes;
}

uint64_t
memory_available(void)
{
	return rte_eal_get_physmem_size() + (rte_eal_has_hugepages() ? free_hugepages() : 0);
}
