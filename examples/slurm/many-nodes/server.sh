#!/usr/bin/env bash
# The server of the cache. It needs no GPU, and runs for as long as there are jobs that use it.
#SBATCH --job-name=server
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --nodes=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=7-00:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail
umask 077                         # nobody else reads the password

ROOM=${ROOM:-$PWD/room}           # a directory that all nodes see
STORE=${STORE:-$ROOM/store}       # the samples: on a fast disk, as of this node
CACHE_HOST=${CACHE_HOST:-$(hostname)} # this node, as the others call it
PORT=${PORT:-4222}                # fixed, so that a requeued server is found again
SAMPLES=${SAMPLES:-256}           # of a generation
PASSES=${PASSES:-4}               # how often each is read at most, while generators are slower than trainers

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	rm -f "$ROOM/address"
}
trap finish EXIT
trap 'exit 0' TERM                # it comes to this shell alone: finish passes it on

mkdir -p "$ROOM"
rm -f "$ROOM/address"             # of a run that was killed
if [ ! -s "$ROOM/password" ]; then
	printf 'lab:%s\n' "$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')" > "$ROOM/password"
fi
tdict cache nats "$STORE" --listen "$CACHE_HOST:$PORT" --password-file "$ROOM/password" --address-file "$ROOM/address" &
until [ -s "$ROOM/address" ]; do
	kill -0 $!                    # else it has failed, and said why
	sleep 0.2
done
tdict cache create "nats://$(< "$ROOM/address")/samples" --schema schema.json --samples "$SAMPLES" --min-passes 1 --max-passes "$PASSES" \
	--password-file "$ROOM/password" --exist-ok
wait -n                           # until SIGTERM
