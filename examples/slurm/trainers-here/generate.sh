#!/usr/bin/env bash
# Generators of wirehead, for the cache of train.sh: 16 tasks, at most 4 at a time.
#SBATCH --job-name=generate
#SBATCH --output=%x-%A_%a.log
#SBATCH --open-mode=append
#SBATCH --array=0-15%4
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=4:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail
umask 077                         # nobody else reads the password

ROOM=${ROOM:-$PWD/room}           # a directory that all nodes see
CONFIG=${CONFIG:-trainers-here/config.yaml}
PROGRAMS=${PROGRAMS:-4}           # generators on the GPU
GENERATE=${GENERATE:-python3 trainers-here/generate.py}
WAIT_SECONDS=${WAIT_SECONDS:-600} # for the cache

own=$ROOM/config-$SLURM_ARRAY_TASK_ID.yaml

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	rm -f "$own"
}
trap finish EXIT
trap 'exit 0' TERM                # it comes to this shell alone: finish passes it on

# configure writes the config with the address and the password: no other user sees either.
configure() {
	local end=$((SECONDS + WAIT_SECONDS)) address
	until address=$(cat "$ROOM/address" 2>/dev/null); do
		if ((SECONDS >= end)); then
			echo "no cache after $WAIT_SECONDS s: $ROOM/address is missing, which the job of train.sh writes" >&2
			exit 1
		fi
		sleep 1
	done
	{
		cat "$CONFIG"
		printf 'MONGOHOST: "%s@%s"\nPORT: %s\n' "$(< "$ROOM/password")" "${address%:*}" "${address##*:}"
	} > "$own"
}

for ((try = 0; try < 20; try++)); do
	configure
	for ((i = 0; i < PROGRAMS; i++)); do
		$GENERATE "$own" &
	done
	wait -n || true               # the cache has gone: the next one has another address
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	sleep 5
done
echo "generators have ended 20 times" >&2
exit 1
