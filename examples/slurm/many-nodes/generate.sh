#!/usr/bin/env bash
# Generators in any language: 16 tasks, at most 4 at a time. A task that is requeued goes on at the
# number that its name has come to.
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

ROOM=${ROOM:-$PWD/room}           # a directory that all nodes see
PROGRAMS=${PROGRAMS:-4}           # generators on each GPU
DRAW=${DRAW:-python3 draw.py}     # a generator
GRACE=${GRACE:-30s}               # for the sample at hand, after SIGTERM
WAIT=${WAIT:-10m}                 # for the cache, and for a name that a killed run still has
WAIT_SECONDS=${WAIT_SECONDS:-600} # for the server's address

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
}
trap finish EXIT
trap 'exit 0' TERM                # it comes to this shell alone: finish passes it on

until [ -s "$ROOM/address" ]; do
	if ((SECONDS >= WAIT_SECONDS)); then
		echo "no server after $WAIT_SECONDS s: $ROOM/address is missing, which the job of server.sh writes" >&2
		exit 1
	fi
	sleep 1
done
IFS=, read -ra gpus <<< "${CUDA_VISIBLE_DEVICES:-0}" # as SLURM has given them
for gpu in "${!gpus[@]}"; do
	CUDA_VISIBLE_DEVICES=${gpus[gpu]} tdict cache put "nats://$(< "$ROOM/address")/samples" --password-file "$ROOM/password" \
		--wait "$WAIT" --name "gen-$SLURM_ARRAY_TASK_ID-$gpu" -n "$PROGRAMS" --grace "$GRACE" -- $DRAW &
done
for _ in "${gpus[@]}"; do
	wait -n                   # a failure ends the job; put ends well when its programs do
done
