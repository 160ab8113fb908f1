#!/usr/bin/env bash
# The trainers: on each node a mirror of the cache in its memory, and a rank for each GPU.
#SBATCH --job-name=train
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail

ROOM=${ROOM:-$PWD/room}           # a directory that all nodes see
SHM=${SHM:-/dev/shm}              # memory; the mirror counts against --mem of its node
EPOCHS=${EPOCHS:-100}
WAIT=${WAIT:-10m}                 # for the first generation, and for each later one
WAIT_SECONDS=${WAIT_SECONDS:-600} # for the server's address

export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1} # srun does not take it from the job by itself

mirror=$SHM/mirror-$SLURM_JOB_ID
node=(srun --overlap --kill-on-bad-exit=1 --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1) # once a node

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	"${node[@]}" rm -rf "$mirror"
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
place=nats://$(< "$ROOM/address")/samples
first=$(cat "$ROOM/epoch" 2>/dev/null || echo 0) # a requeued job goes on there
"${node[@]}" rm -rf "$mirror"     # of a run that was killed
"${node[@]}" tdict cache mirror "$place" "$mirror" --wait "$WAIT" --password-file "$ROOM/password" &
srun --overlap --kill-on-bad-exit=1 train -wait "$WAIT" -first "$first" -epochs "$EPOCHS" -checkpoint "$ROOM/epoch" \
	-password-file "$ROOM/password" -mirror "$mirror" "$place" &
wait -n                           # the trainers have ended, or something has failed
