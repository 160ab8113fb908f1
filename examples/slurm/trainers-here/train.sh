#!/usr/bin/env bash
# The trainer, and the cache in its node's memory. Generators of wirehead, in the jobs of
# generate.sh, reach it as a MongoDB.
#SBATCH --job-name=train
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail
umask 077                         # nobody else reads the password

ROOM=${ROOM:-$PWD/room}           # a directory that all nodes see
SHM=${SHM:-/dev/shm}              # memory; the cache counts against --mem
CACHE_HOST=${CACHE_HOST:-$(hostname)} # this node, as the others call it
CONFIG=${CONFIG:-trainers-here/config.yaml}
EPOCHS=${EPOCHS:-100}
WAIT=${WAIT:-10m}                 # for the first generation, and for each later one

cache=$SHM/cache-$SLURM_JOB_ID

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	rm -rf "$cache" "$ROOM/address"
}
trap finish EXIT
trap 'exit 0' TERM                # it comes to this shell alone: finish passes it on

mkdir -p "$ROOM"
rm -rf "$cache" "$ROOM/address"   # of a run that was killed
if [ ! -s "$ROOM/password" ]; then
	printf 'lab:%s\n' "$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')" > "$ROOM/password"
fi
tdict cache serve "$cache" --config "$CONFIG" --listen "$CACHE_HOST:0" --password-file "$ROOM/password" \
	--address-file "$ROOM/address" > "$ROOM/serve.log" &
train -key data -wait "$WAIT" -epochs "$EPOCHS" "$cache" &
wait -n                           # the trainer has ended, or something has failed
