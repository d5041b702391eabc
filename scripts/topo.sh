# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced after lib.sh: the laboratory that quickstart, lab and the interop tests share.
#
#   namespace vx-NAME-tenant    namespace vx-NAME-dut             namespace vx-NAME-peer
#  +------------------------+  +-------------------------------+  +----------------------------+
#  | t0 198.51.100.1 -------+--+- a0 access  dpdk-vxlan        |  | vxlan100 198.51.100.2      |
#  |    inner MTU           |  |             underlay u0 ------+--+- p0 192.0.2.2  physical MTU |
#  +------------------------+  |             192.0.2.1         |  +----------------------------+
#                              +-------------------------------+
# With several peers, a bridge in vx-NAME-net stands between u0 and the peers' p0; peer 2 is
# vx-NAME-peer2 with 192.0.2.3 and 198.51.100.3, and so on.
#
# What is up is described in $LAB_ROOT/NAME/state (KEY=VALUE lines), so that another command can use
# it and take it down.
#
# What is set here is read by those who source it.
# shellcheck disable=SC2034

LAB_ROOT=/run/dpdk-vxlan-lab
LAB_VNI=100
# The tenants' device where it is another than the underlay's, LAB_DEVICE.
LAB_ACCESS_DEVICE=
LAB_UNDERLAY=192.0.2
LAB_INNER=198.51.100
# The tenants' network when testpmd joins them directly, without a tunnel.
LAB_DIRECT=203.0.113
# The kernel's inner address when it takes the program's place.
LAB_KERNEL_HOST=101

# topo_select NAME: the names that belong to laboratory NAME.
topo_select() {
	LAB_NAME=$1
	LAB_DIR=$LAB_ROOT/$LAB_NAME
	LAB_SOCKET=$LAB_DIR/cli.sock
	LAB_LOG=$LAB_DIR/log
	NS_TENANT=vx-$LAB_NAME-tenant
	NS_DUT=vx-$LAB_NAME-dut
	NS_PEER=vx-$LAB_NAME-peer
	NS_NET=vx-$LAB_NAME-net
}

# topo_load NAME: select it and read how it was made.
topo_load() {
	topo_select "$1"
	[ -r "$LAB_DIR/state" ] || return 1
	# shellcheck disable=SC1091 # made by topo_save
	. "$LAB_DIR/state"
}

topo_save() {
	local key

	for key in LAB_INNER_MTU LAB_PHYS_MTU LAB_DEVICE LAB_ACCESS_DEVICE LAB_PEERS LAB_HUGE_ADDED \
		LAB_HUGE; do
		printf '%s=%q\n' "$key" "${!key}"
	done >"$LAB_DIR/state"
}

peer_ns() {
	[ "$1" -eq 1 ] && printf '%s' "$NS_PEER" || printf '%s%d' "$NS_PEER" "$1"
}

# ---- kernel side --------------------------------------------------------------------------------

ns_add() {
	ip netns add "$1" || return 1
	# Without IPv6 nothing is on the wire but what a test sends.
	ip netns exec "$1" tee /proc/sys/net/ipv6/conf/{all,default}/disable_ipv6 \
		<<<1 >/dev/null 2>&1
	ip -n "$1" link set lo up
}

# A veth end without offloads: through net_af_packet, unfinished checksums and frames of 64 KB would
# arrive as they are.
veth_plain() {
	ip netns exec "$1" ethtool -K "$2" tx off rx on gro off gso off tso off >/dev/null 2>&1
}

# dut_end INTERFACE DEVICE: the end that the program's device opens. The kernel sees each frame too; it
# is dropped behind the packet socket's tap, before it costs a route lookup.
dut_end() {
	veth_plain "$NS_DUT" "$1" &&
		ip -n "$NS_DUT" link set "$1" up || return 1
	if [ "$2" = af_packet ]; then
		tc -n "$NS_DUT" qdisc add dev "$1" clsact 2>/dev/null &&
			tc -n "$NS_DUT" filter add dev "$1" ingress matchall action drop 2>/dev/null
	fi
	return 0
}

topo_tenant_up() {
	ip -n "$NS_DUT" link add a0 mtu "$LAB_INNER_MTU" type veth \
		peer name t0 netns "$NS_TENANT" mtu "$LAB_INNER_MTU" &&
		veth_plain "$NS_TENANT" t0 &&
		ip -n "$NS_TENANT" address add $LAB_INNER.1/24 dev t0 &&
		ip -n "$NS_TENANT" address add $LAB_DIRECT.1/24 dev t0 &&
		ip -n "$NS_TENANT" link set t0 up &&
		dut_end a0 "${LAB_ACCESS_DEVICE:-$LAB_DEVICE}"
}

# topo_peer_vxlan N [MAC]: the kernel's VXLAN device in peer N, with our VTEP as its only remote.
topo_peer_vxlan() {
	local ns

	ns=$(peer_ns "$1")
	# Without `dev`: the kernel would lower the inner MTU to what the device carries.
	ip -n "$ns" link add vxlan$LAB_VNI ${2:+address "$2"} mtu "$LAB_INNER_MTU" type vxlan \
		id $LAB_VNI local $LAB_UNDERLAY.$(($1 + 1)) remote $LAB_UNDERLAY.1 dstport 4789 \
		ttl 64 &&
		veth_plain "$ns" vxlan$LAB_VNI &&
		ip -n "$ns" address add $LAB_INNER.$(($1 + 1))/24 dev vxlan$LAB_VNI &&
		ip -n "$ns" link set vxlan$LAB_VNI up
}

# topo_peer_up N: namespace, link to u0 (or to the bridge) and VXLAN device of peer N.
topo_peer_up() {
	local ns there end

	ns=$(peer_ns "$1")
	if [ "$LAB_PEERS" -eq 1 ]; then
		there=$NS_DUT end=u0
	else
		there=$NS_NET end=port$1
	fi
	ns_add "$ns" &&
		ip -n "$there" link add "$end" mtu "$LAB_PHYS_MTU" type veth \
			peer name p0 netns "$ns" mtu "$LAB_PHYS_MTU" &&
		veth_plain "$ns" p0 &&
		ip -n "$ns" address add $LAB_UNDERLAY.$(($1 + 1))/24 dev p0 &&
		ip -n "$ns" address add $LAB_DIRECT.$(($1 + 1))/24 dev p0 &&
		ip -n "$ns" link set p0 up &&
		topo_peer_vxlan "$1" || return 1
	if [ "$LAB_PEERS" -gt 1 ]; then
		veth_plain "$NS_NET" "$end" &&
			ip -n "$NS_NET" link set "$end" master br0 up
	fi
}

topo_bridge_up() {
	ns_add "$NS_NET" &&
		ip -n "$NS_NET" link add br0 mtu "$LAB_PHYS_MTU" type bridge mcast_snooping 0 &&
		ip -n "$NS_NET" link set br0 up &&
		ip -n "$NS_NET" link add port0 mtu "$LAB_PHYS_MTU" type veth \
			peer name u0 netns "$NS_DUT" mtu "$LAB_PHYS_MTU" &&
		veth_plain "$NS_NET" port0 &&
		ip -n "$NS_NET" link set port0 master br0 up
}

# topo_up NAME: from LAB_INNER_MTU, LAB_PHYS_MTU, LAB_DEVICE and LAB_PEERS. On failure the caller's
# topo_down removes what was made.
topo_up() {
	local i

	topo_select "$1"
	mkdir -p "$LAB_ROOT" && mkdir "$LAB_DIR" || return 1
	LAB_HUGE_ADDED=0
	LAB_HUGE=
	topo_save
	ns_add "$NS_TENANT" && ns_add "$NS_DUT" && topo_tenant_up || return 1
	[ "$LAB_PEERS" -eq 1 ] || topo_bridge_up || return 1
	for ((i = 1; i <= LAB_PEERS; i++)); do
		topo_peer_up "$i" || return 1
	done
	dut_end u0 "$LAB_DEVICE"
}

# topo_mtus INNER PHYSICAL: change both MTUs of a laboratory that is up; no program may be running.
topo_mtus() {
	local i ns

	LAB_INNER_MTU=$1
	LAB_PHYS_MTU=$2
	topo_save
	ip -n "$NS_TENANT" link set t0 mtu "$1" &&
		ip -n "$NS_DUT" link set a0 mtu "$1" &&
		ip -n "$NS_DUT" link set u0 mtu "$2" || return 1
	for ((i = 1; i <= LAB_PEERS; i++)); do
		ns=$(peer_ns "$i")
		ip -n "$ns" link set p0 mtu "$2" &&
			ip -n "$ns" link set vxlan$LAB_VNI mtu "$1" || return 1
	done
}

# topo_lock_mtu: the ends keep sending packets of the inner MTU, whatever the kernel learns of paths.
# Without it nothing is fragmented where the underlay is smaller: the kernel peer's own device tells
# its sender what fits.
topo_lock_mtu() {
	local i

	ip -n "$NS_TENANT" route change $LAB_INNER.0/24 dev t0 mtu lock "$LAB_INNER_MTU" || return 1
	for ((i = 1; i <= LAB_PEERS; i++)); do
		ip -n "$(peer_ns "$i")" route change $LAB_INNER.0/24 dev vxlan$LAB_VNI \
			mtu lock "$LAB_INNER_MTU" || return 1
	done
}

ns_kill() {
	local pid pids

	pids=$(ip netns pids "$1" 2>/dev/null)
	for pid in $pids; do
		kill -TERM "$pid" 2>/dev/null
	done
	for pid in $pids; do
		wait_for 3 pid_gone "$pid" || kill -KILL "$pid" 2>/dev/null
	done
}

# topo_down NAME: everything that runs in its namespaces, the namespaces, its files, its hugepages.
topo_down() {
	local ns status=0

	topo_load "$1" || topo_select "$1"
	for ns in $(ip netns list | awk -v p="vx-$LAB_NAME-" 'index($1, p) == 1 { print $1 }'); do
		ns_kill "$ns"
		ip netns delete "$ns" || status=1
	done
	hugepages_return "${LAB_HUGE_ADDED:-0}" || status=1
	# What EAL leaves behind.
	rm -rf "$LAB_DIR" "/run/dpdk/vx-$LAB_NAME"
	rmdir "$LAB_ROOT" 2>/dev/null
	return $status
}

# ---- memory and devices -------------------------------------------------------------------------

# topo_hugepages N: reserve them for this laboratory, or warn and do without.
topo_hugepages() {
	LAB_HUGE=
	if hugepages_reserve "$1"; then
		LAB_HUGE=1
		LAB_HUGE_ADDED=$((LAB_HUGE_ADDED + HUGE_ADDED))
	fi
	topo_save
	[ -n "$LAB_HUGE" ] ||
		warn "the kernel has no $1 hugepages of 2 MiB for us: using --no-huge, which is slower"
}

# frame_size MTU: the smallest net_af_packet frame size in use that holds an MTU's frames.
frame_size() {
	if [ "$1" -le 1900 ]; then
		echo 2048
	elif [ "$1" -le 9100 ]; then
		echo 9216
	else
		echo 61440
	fi
}

# buffer_args: sets BUFFER_ARGS. Two different devices get buffers of their own from the program, each
# as large as it needs them.
buffer_args() {
	if [ -n "$LAB_ACCESS_DEVICE" ]; then
		BUFFER_ARGS=(--mbuf-size=2176)
	else
		BUFFER_ARGS=("--mbuf-size=$(mbuf_size)" "--total-num-mbufs=$(mbuf_count)")
	fi
}

# Data room that takes any frame the larger device hands out.
mbuf_size() {
	local mtu=$((LAB_INNER_MTU > LAB_PHYS_MTU ? LAB_INNER_MTU : LAB_PHYS_MTU))

	case $LAB_DEVICE:$(frame_size $mtu) in
	af_packet:9216) echo 9600 ;;
	af_packet:61440) echo 61600 ;;
	*) echo 2176 ;;
	esac
}

# Fewer of the large ones: 64 MiB of them is plenty for two rings.
mbuf_count() {
	case $(mbuf_size) in
	2176) echo 32768 ;;
	9600) echo 8192 ;;
	*) echo 2048 ;;
	esac
}

# vdev DEVICE N INTERFACE MTU: the devargs of the N-th device, and its name in $VDEV_NAME.
vdev() {
	VDEV_NAME=net_$1$2
	case $1 in
	af_packet)
		case $(frame_size "$4") in
		2048) VDEV="iface=$3,framesz=2048,blocksz=65536,framecnt=4096" ;;
		9216) VDEV="iface=$3,framesz=9216,blocksz=36864,framecnt=1024" ;;
		*) VDEV="iface=$3,framesz=61440,blocksz=61440,framecnt=128" ;;
		esac
		;;
	af_xdp) VDEV="iface=$3,busy_budget=0" ;;
	pcap) VDEV="rx_iface_in=$3,tx_iface=$3" ;;
	esac
	VDEV=$VDEV_NAME,$VDEV
}

# eal_args PREFIX: sets EAL_ARGS for the two devices, the main lcore and one worker.
eal_args() {
	local largest

	EAL_ARGS=(--no-pci --file-prefix "$1")
	if [ "$MAIN_CPU" = "$WORKER_CPU" ]; then
		EAL_ARGS+=(--lcores "0@$MAIN_CPU,1@$WORKER_CPU")
	else
		EAL_ARGS+=(-l "$MAIN_CPU,$WORKER_CPU")
	fi
	if [ -n "$LAB_HUGE" ]; then
		EAL_ARGS+=(--in-memory --single-file-segments)
	else
		EAL_ARGS+=(--no-huge -m 512 --no-shconf --no-telemetry)
	fi
	# net_af_packet gets outer fragments put together by the kernel: with the tunnel's 50 bytes.
	largest=$((LAB_INNER_MTU + 50 > LAB_PHYS_MTU ? LAB_INNER_MTU + 50 : LAB_PHYS_MTU))
	vdev "$LAB_DEVICE" 0 u0 "$largest"
	EAL_ARGS+=(--vdev "$VDEV")
	UNDERLAY_PORT=$VDEV_NAME
	vdev "${LAB_ACCESS_DEVICE:-$LAB_DEVICE}" 1 a0 "$LAB_INNER_MTU"
	EAL_ARGS+=(--vdev "$VDEV")
	ACCESS_PORT=$VDEV_NAME
}

# ---- the program, and testpmd in its place ------------------------------------------------------

# dut_start COMMAND…: in the dut's namespace, output to the log, its process id in the lab's files.
dut_start() {
	: >"$LAB_LOG"
	# ip replaces itself by the command: the id is the program's own. It starts with all CPUs
	# allowed, since this script may have been kept off the worker's.
	taskset -c "$OTHER_CPUS,$WORKER_CPU" ip netns exec "$NS_DUT" "$@" \
		</dev/null >>"$LAB_LOG" 2>&1 &
	DUT_PID=$!
	echo "$DUT_PID" >"$LAB_DIR/pid"
}

dut_alive() {
	! pid_gone "$DUT_PID"
}

# dut_stop: TERM; status 0 if the program ended by itself with status 0. (That it does so within two
# seconds is for the tests to hold; a busy machine may take longer here.)
dut_stop() {
	local status=0

	[ -s "$LAB_DIR/pid" ] || return 0
	DUT_PID=$(<"$LAB_DIR/pid")
	rm -f "$LAB_DIR/pid"
	stop_pid "$DUT_PID" 5 || status=1
	# 127: a program that another command started; it cannot be asked.
	wait "$DUT_PID" 2>/dev/null || { [ $? -eq 127 ] || status=1; }
	return $status
}

cli() {
	"$REPO/scripts/cli" --socket "$LAB_SOCKET" "$@"
}

# worker_busy: the share of its rounds' time in which our worker had packets; "-" if nobody answers.
worker_busy() {
	cli 'show worker' 2>/dev/null | awk '
	$1 == "worker" { for (i = 1; i <= NF; i++) if ($i == "busy") column = i }
	$1 == "0" && column { print $column; found = 1; exit }
	END { if (!found) print "-" }'
}

vxlan_ready() {
	[ -S "$LAB_SOCKET" ] && cli 'show version'
}

dut_ended_or() {
	! dut_alive || "$@"
}

# dut_ready SECONDS COMMAND…: wait for the condition, give up at once if the program has ended.
dut_ready() {
	local seconds=$1

	shift
	wait_for "$seconds" dut_ended_or "$@" && dut_alive && "$@" >/dev/null 2>&1
}

# vxlan_argv [OPTION…]: sets VXLAN_ARGV, the program with a whole tunnel on its command line.
vxlan_argv() {
	local i
	local remotes=()

	for ((i = 1; i <= LAB_PEERS; i++)); do
		remotes+=(--remote "$LAB_UNDERLAY.$((i + 1))")
	done
	eal_args "vx-$LAB_NAME"
	buffer_args
	VXLAN_ARGV=("$BUILD/app/dpdk-vxlan" "${EAL_ARGS[@]}" --
		--underlay "$UNDERLAY_PORT" --access "$ACCESS_PORT"
		--mtu "$LAB_INNER_MTU" --underlay-mtu "$LAB_PHYS_MTU"
		"${BUFFER_ARGS[@]}"
		--local "$LAB_UNDERLAY.1/24" "${remotes[@]}" --vni "$LAB_VNI"
		--cli-socket "$LAB_SOCKET" "$@")
}

# vxlan_start [OPTION…]: start it and wait until it answers.
vxlan_start() {
	rm -f "$LAB_SOCKET"
	vxlan_argv "$@"
	dut_start "${VXLAN_ARGV[@]}"
	dut_ready 20 vxlan_ready
}

# testpmd_start: io forwarding between the same two devices.
testpmd_start() {
	eal_args "vx-$LAB_NAME"
	buffer_args
	# A long statistics period keeps it running without a terminal.
	dut_start dpdk-testpmd "${EAL_ARGS[@]}" -- --forward-mode=io --nb-cores=1 --no-lsc-interrupt \
		"${BUFFER_ARGS[@]}" --stats-period=3600
	dut_ready 20 ping_works $LAB_DIRECT.2
}

# kernel_start: the kernel's vxlan in the program's place, in the dut's namespace, with its sender there
# as well. The program must not be running.
kernel_start() {
	tc -n "$NS_DUT" qdisc del dev u0 clsact 2>/dev/null
	ip -n "$NS_PEER" neigh flush dev p0
	ip -n "$NS_DUT" address add $LAB_UNDERLAY.1/24 dev u0 &&
		ip -n "$NS_DUT" link add vxlan$LAB_VNI mtu "$LAB_INNER_MTU" type vxlan id $LAB_VNI \
			local $LAB_UNDERLAY.1 remote $LAB_UNDERLAY.2 dstport 4789 ttl 64 &&
		veth_plain "$NS_DUT" vxlan$LAB_VNI &&
		ip -n "$NS_DUT" address add $LAB_INNER.$LAB_KERNEL_HOST/24 dev vxlan$LAB_VNI &&
		ip -n "$NS_DUT" link set vxlan$LAB_VNI up &&
		ip -n "$NS_DUT" route change $LAB_INNER.0/24 dev vxlan$LAB_VNI \
			mtu lock "$LAB_INNER_MTU" || return 1
	wait_for 10 ip netns exec "$NS_DUT" ping -c 1 -W 1 -n $LAB_INNER.2
}

kernel_stop() {
	ip -n "$NS_DUT" link delete vxlan$LAB_VNI &&
		ip -n "$NS_DUT" address flush dev u0 &&
		ip -n "$NS_PEER" neigh flush dev p0 &&
		dut_end u0 "$LAB_DEVICE"
}

# ---- traffic ------------------------------------------------------------------------------------

in_tenant() {
	ip netns exec "$NS_TENANT" "$@"
}

in_peer() {
	ip netns exec "$NS_PEER" "$@"
}

ping_works() {
	in_tenant ping -c 1 -W 1 -n "$1"
}

iperf_listens() {
	in_peer ss -Hltn 'sport = :5201' | grep -q LISTEN
}

# iperf_server: one in the peer, for all runs. It goes with the namespace.
iperf_server() {
	in_peer iperf3 -s >"$LAB_DIR/iperf-server.log" 2>&1 </dev/null &
	wait_for 5 iperf_listens
}

# iperf_tcp ADDRESS SECONDS [OPTION…]: TCP from the tenant, or from namespace $IPERF_NS (-R: to it). Sets
# IPERF_RATE (Gbit/s) and IPERF_RETRANS.
iperf_tcp() {
	local address=$1 seconds=$2 out=$LAB_DIR/iperf.json result

	shift 2
	run timeout $((seconds + 15)) ip netns exec "${IPERF_NS:-$NS_TENANT}" \
		iperf3 -c "$address" -C cubic -t "$seconds" -O 1 -J "$@" >"$out" 2>&1
	result=$(iperf_result "$out") || return 1
	IPERF_RATE=${result% *}
	IPERF_RETRANS=${result#* }
}

# iperf_result FILE: "Gbit/s retransmits" of iperf3's JSON, or what went wrong on stderr.
iperf_result() {
	python3 - "$1" <<-'END'
		import json, sys
		try:
		    result = json.load(open(sys.argv[1]))
		except ValueError:
		    sys.exit("iperf3 gave no result within its time")
		try:
		    end = result["end"]
		    rate = end["sum_received"]["bits_per_second"] / 1e9
		except KeyError:
		    sys.exit("iperf3: " + result.get("error", "no result"))
		if rate <= 0:
		    sys.exit("iperf3: nothing arrived")
		print(f"{rate:.2f} {end['sum_sent'].get('retransmits', 0)}")
	END
}
