# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts next to it: messages, cleanup, waiting, packages, hugepages, CPUs.
# What is set here is read by those who source it.
# shellcheck disable=SC2034

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${VX_BUILD:-$REPO/build}

# ---- messages -----------------------------------------------------------------------------------

STEP_NOW=0
STEP_ALL=0
STEP_OPEN=
STEP_BEGAN=0

# End the line of an unfinished step before something else is printed.
break_line() {
	if [ -n "$STEP_OPEN" ]; then
		STEP_OPEN=
		printf '\n'
	fi
}

info() {
	break_line
	printf '    %s\n' "$*"
}

warn() {
	break_line
	printf 'warning: %s\n' "$*" >&2
}

die() {
	break_line
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# steps N: how many step_begin will follow.
steps() {
	STEP_NOW=0
	STEP_ALL=$1
}

step_begin() {
	STEP_NOW=$((STEP_NOW + 1))
	STEP_BEGAN=$SECONDS
	STEP_OPEN=1
	printf '==> [%d/%d] %s ... ' "$STEP_NOW" "$STEP_ALL" "$*"
}

# step_end [TEXT]: TEXT (what came of it) and the seconds it took.
step_end() {
	local text=${1:-done}

	if [ -n "$STEP_OPEN" ]; then
		printf '%s  %ds\n' "$text" $((SECONDS - STEP_BEGAN))
	else
		printf '    %s  %ds\n' "$text" $((SECONDS - STEP_BEGAN))
	fi
	STEP_OPEN=
}

# ---- cleanup ------------------------------------------------------------------------------------

CLEANUP=()
RUN_PID=

# cleanup_push COMMAND [ARG…]: run when the script ends, however it ends; the last pushed runs first.
cleanup_push() {
	CLEANUP+=("$(printf '%q ' "$@")")
}

# Forget what was pushed: what has been built is to stay.
cleanup_forget() {
	CLEANUP=()
}

cleanup_run() {
	local status=$?
	local i

	# A second Ctrl-C must not stop the cleaning up half-way.
	trap '' INT TERM HUP
	trap - EXIT
	break_line
	# What `run` was waiting for when the signal came.
	[ -z "$RUN_PID" ] || stop_pid "$RUN_PID"
	for ((i = ${#CLEANUP[@]} - 1; i >= 0; i--)); do
		eval "${CLEANUP[i]}" || warn "cleanup failed: ${CLEANUP[i]}"
	done
	exit "$status"
}

trap cleanup_run EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# run COMMAND…: in the background, waited for, so that a signal to this script acts at once instead
# of after the command. The command dies with the script.
run() {
	local status=0

	"$@" &
	RUN_PID=$!
	wait "$RUN_PID" || status=$?
	RUN_PID=
	return "$status"
}

# ---- waiting and processes ----------------------------------------------------------------------

# wait_for SECONDS COMMAND…: until the command succeeds; fails when the time is over.
wait_for() {
	local limit=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))

	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt "$limit" ] || return 1
		sleep 0.05
	done
}

pid_gone() {
	local state

	# A zombie has ended too; only its parent has not asked yet.
	state=$(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) || return 0
	[ -z "$state" ] || [ "$state" = Z ]
}

# stop_pid PID [SECONDS]: TERM, and KILL if it has not gone by then (status 1).
stop_pid() {
	kill -TERM "$1" 2>/dev/null || return 0
	wait_for "${2:-3}" pid_gone "$1" && return 0
	kill -KILL "$1" 2>/dev/null
	wait_for 2 pid_gone "$1"
	return 1
}

# ---- root and packages --------------------------------------------------------------------------

need_root() {
	[ "$(id -u)" -eq 0 ] || die "$1 needs root: network namespaces and hugepages"
}

# One need: how to see that it is there, and the Debian package that brings it.
NEED_BUILD="cmd:gcc=gcc cmd:meson=meson cmd:ninja=ninja-build cmd:pkg-config=pkg-config
	pc:libdpdk=libdpdk-dev header:numa.h=libnuma-dev header:stdlib.h=libc6-dev"
NEED_LAB="cmd:ip=iproute2 cmd:ss=iproute2 cmd:tc=iproute2 cmd:ethtool=ethtool cmd:python3=python3
	cmd:taskset=util-linux"
NEED_TRAFFIC="cmd:ping=iputils-ping cmd:iperf3=iperf3"
NEED_TESTPMD="cmd:dpdk-testpmd=dpdk-dev"
NEED_PLOT="cmd:gnuplot=gnuplot-nox"
NEED_TEST="header:cmocka.h=libcmocka-dev python:pytest=python3-pytest python:scapy=python3-scapy
	cmd:tcpdump=tcpdump $NEED_PLOT"
NEED_OVS="cmd:ovs-vswitchd=openvswitch-switch cmd:ovs-appctl=openvswitch-common"
NEED_LINT="cmd:clang-format=clang-format cmd:shellcheck=shellcheck cmd:git=git"

need_is_met() {
	case $1 in
	cmd:*) command -v "${1#*:}" >/dev/null ;;
	pc:*) pkg-config --exists "${1#*:}" 2>/dev/null ;;
	header:*) [ -e "/usr/include/${1#*:}" ] ;;
	python:*) /usr/bin/python3 -c "import ${1#*:}" 2>/dev/null ;;
	esac
}

# packages_missing NEED…: the packages to install, one a line, each once.
packages_missing() {
	local need

	for need in "$@"; do
		need_is_met "${need%=*}" || printf '%s\n' "${need#*=}"
	done | sort -u
}

# no_daemons COMMAND…: run it while packages that bring a daemon may not start it.
no_daemons() {
	local policy=/usr/sbin/policy-rc.d status=0

	# Somebody's own policy stays.
	[ ! -e $policy ] || policy=
	if [ -n "$policy" ]; then
		cleanup_push rm -f "$policy"
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
	fi
	"$@" || status=$?
	[ -z "$policy" ] || rm -f "$policy"
	return $status
}

# packages_ensure NEED…: install what is missing, or say what to install (VX_NO_INSTALL=1).
packages_ensure() {
	local missing log

	missing=$(packages_missing "$@" | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	[ -z "${VX_NO_INSTALL:-}" ] || die "packages missing: $missing"
	[ "$(id -u)" -eq 0 ] || die "packages missing, and only root can install them: $missing"
	command -v apt-get >/dev/null || die "no apt-get here; needed: $missing"
	info "installing: $missing"
	log=$(mktemp)
	# shellcheck disable=SC2086 # one word a package
	if ! { DEBIAN_FRONTEND=noninteractive run apt-get update -qq &&
		DEBIAN_FRONTEND=noninteractive no_daemons run apt-get install -y \
			--no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" >&2
		die "apt-get could not install: $missing"
	fi
	rm -f "$log"
	missing=$(packages_missing "$@" | tr '\n' ' ')
	[ -z "$missing" ] || die "still missing after the installation: $missing"
}

# ---- build --------------------------------------------------------------------------------------

# build DIR [MESON OPTION…]: set it up once, then ninja; TARGETS: not all of it. Prints the log's end if
# it fails.
build() {
	local dir=$1 log

	shift
	log=$(mktemp)
	if ! { { [ -e "$dir/build.ninja" ] || run meson setup "$@" "$dir" "$REPO"; } &&
		run ninja -C "$dir" ${TARGETS:+"$TARGETS"}; } >"$log" 2>&1 </dev/null; then
		break_line
		tail -n 40 "$log" >&2
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

# ---- hugepages ----------------------------------------------------------------------------------

HUGE_DIR=/sys/kernel/mm/hugepages/hugepages-2048kB
HUGE_ADDED=0

# hugepages_reserve N: make N pages of 2 MiB free. Sets HUGE_ADDED, for hugepages_return. Status 1 if
# the kernel gives fewer; then none are kept.
hugepages_reserve() {
	local before free

	HUGE_ADDED=0
	[ -w $HUGE_DIR/nr_hugepages ] || return 1
	before=$(<$HUGE_DIR/nr_hugepages)
	free=$(<$HUGE_DIR/free_hugepages)
	[ "$free" -lt "$1" ] || return 0
	echo $((before + $1 - free)) >$HUGE_DIR/nr_hugepages
	HUGE_ADDED=$(($(<$HUGE_DIR/nr_hugepages) - before))
	[ "$(<$HUGE_DIR/free_hugepages)" -ge "$1" ] && return 0
	hugepages_return "$HUGE_ADDED"
	HUGE_ADDED=0
	return 1
}

# hugepages_return N: give back N pages. By difference, since another run may hold some of its own.
hugepages_return() {
	local now

	[ "$1" -gt 0 ] || return 0
	now=$(<$HUGE_DIR/nr_hugepages)
	echo $((now > $1 ? now - $1 : 0)) >$HUGE_DIR/nr_hugepages
}

# ---- CPUs ---------------------------------------------------------------------------------------

# cpus_choose: WORKER_CPU gets the last CPU this process may use, for a worker alone; OTHER_CPUS the
# others as a list for taskset; MAIN_CPU the first of them. With one CPU they are all the same.
cpus_choose() {
	local part i
	local all=()

	for part in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
		for ((i = ${part%-*}; i <= ${part#*-}; i++)); do
			all+=("$i")
		done
	done
	MAIN_CPU=${all[0]}
	WORKER_CPU=${all[-1]}
	if [ ${#all[@]} -gt 1 ]; then
		unset 'all[-1]'
	else
		warn "one CPU only: the worker shares it with everything else"
	fi
	OTHER_CPUS=$(IFS=,; printf '%s' "${all[*]}")
}

# pin_self: this script and all it starts leave the worker's CPU alone.
pin_self() {
	taskset -cp "$OTHER_CPUS" $$ >/dev/null
}

# ---- figures ------------------------------------------------------------------------------------

# median: of numbers, one a line.
median() {
	sort -n | awk '{ v[NR] = $1 } END {
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Columns of tab-separated lines, the first one left-aligned.
print_table() {
	awk -F'\t' '
	{
		for (i = 1; i <= NF; i++) {
			cell[NR, i] = $i
			if (length($i) > width[i])
				width[i] = length($i)
		}
		if (NF > columns)
			columns = NF
	}
	END {
		for (r = 1; r <= NR; r++) {
			line = ""
			for (i = 1; i <= columns; i++)
				line = line sprintf(i == 1 ? "%-" width[i] "s" : "  %" width[i] "s", cell[r, i])
			sub(/ +$/, "", line)
			print line
		}
	}'
}

# cpu_times: busy, softirq and total jiffies of the worker's CPU and of the others together.
cpu_times() {
	awk -v w="cpu$WORKER_CPU" '
	/^cpu[0-9]/ {
		s = ($1 == w) ? 1 : 2
		for (i = 2; i <= 9; i++)
			all[s] += $i
		idle[s] += $5 + $6; sys[s] += $4; soft[s] += $7 + $8
	}
	END { for (s = 1; s <= 2; s++) print all[s] - idle[s], sys[s], soft[s], all[s] }' \
		/proc/stat | tr '\n' ' '
}

# cpu_share BEFORE AFTER: "worker CPU: system+softirq %; others: busy %".
cpu_share() {
	awk -v a="$1" -v b="$2" 'BEGIN {
		split(a, x, " "); split(b, y, " ")
		for (i = 1; i <= 8; i++)
			d[i] = y[i] - x[i]
		if (d[4] == 0) d[4] = 1
		if (d[8] == 0) d[8] = 1
		printf "%.0f%%\t%.0f%%\n", 100 * (d[2] + d[3]) / d[4], 100 * d[5] / d[8]
	}'
}
