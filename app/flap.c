/* SPDX-License-Identifier: BSD-3-Clause */
#include "flap.h"

#include <rte_hash_crc.h>

#include "app.h"
#include "dest_text.h"
#include "vx_fdb.h"
#include "vx_log.h"

/* Lines a second, and at once after a quiet time. */
#define LOG_RATE  1u
#define LOG_BURST 10u

static void
tell(struct app *app, uint32_t vni, uint64_t key, uint32_t from, uint32_t to)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE], a[DEST_TEXT_MAX], b[DEST_TEXT_MAX];
	struct flaps *flaps = &app->flaps;
	const struct rte_ether_addr address = vx_fdb_mac_of(key);

	if (flaps->log.interval == 0)
		flaps->log = vx_bucket_make(1000, LOG_RATE, LOG_BURST);
	if (!vx_bucket_take(&flaps->log, app_now(app))) {
		flaps->untold++;
		return;
	}
	rte_ether_format_addr(mac, sizeof(mac), &address);
	VX_LOG(WARNING,
	       "MAC %s in VNI %u moves between %s and %s, more than %u times in %u seconds "
	       "(%u other MACs not told): two hosts with one address, or a loop",
	       mac, vni, dest_text(app, from, a, sizeof(a)), dest_text(app, to, b, sizeof(b)),
	       FLAP_MOVES, FLAP_WINDOW_MS / 1000, flaps->untold);
	flaps->untold = 0;
}

bool
flap_note(struct app *app, uint32_t vni, uint64_t key, uint32_t from, uint32_t to)
{
	const uint32_t place = rte_hash_crc_8byte(key, 0) % FLAP_PLACES;
	const uint64_t now = app_now(app);
	__typeof__(&app->flaps.place[0]) mac = &app->flaps.place[place];

	if (mac->moves == 0 || now - mac->since > FLAP_WINDOW_MS) {
		mac->key = key;
		mac->since = now;
		mac->moves = 1;
		return false;
	}
	if (mac->key != key || ++mac->moves != FLAP_MOVES + 1)
		return false;
	tell(app, vni, key, from, to);
	return true;
}
