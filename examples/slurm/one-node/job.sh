#!/usr/bin/env bash
# Generators and the trainer of one node. The cache is in the node's memory.
#SBATCH --job-name=one-node
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

SHM=${SHM:-/dev/shm}              # memory; the cache counts against --mem
SAMPLES=${SAMPLES:-256}           # of a generation; there is room for 3 generations
PASSES=${PASSES:-4}               # how often each is read at most, while generators are slower than trainers
PROGRAMS=${PROGRAMS:-4}           # generators on each GPU
DRAW=${DRAW:-python3 draw.py}     # a generator
GRACE=${GRACE:-30s}               # for the sample at hand, after SIGTERM
EPOCHS=${EPOCHS:-100}
WAIT=${WAIT:-10m}                 # for the first generation, and for each later one

cache=$SHM/cache-$SLURM_JOB_ID
run=${SLURM_RESTART_COUNT:-0}     # a requeued job has a new cache, and new names draw new samples

finish() {
	trap '' TERM
	kill -TERM $(jobs -p) 2>/dev/null || true
	wait
	rm -rf "$cache"
}
trap finish EXIT
trap 'exit 0' TERM                # it comes to this shell alone: finish passes it on

rm -rf "$cache"                   # of a run that was killed
tdict cache create "$cache" --schema schema.json --samples "$SAMPLES" --min-passes 1 --max-passes "$PASSES"
IFS=, read -ra gpus <<< "${CUDA_VISIBLE_DEVICES:-0}" # as SLURM has given them
for gpu in "${!gpus[@]}"; do
	CUDA_VISIBLE_DEVICES=${gpus[gpu]} tdict cache put "$cache" --name "gen-$run-$gpu" -n "$PROGRAMS" --grace "$GRACE" -- $DRAW &
done
train -wait "$WAIT" -epochs "$EPOCHS" "$cache" &
trainer=$!
while kill -0 "$trainer" 2>/dev/null; do
	wait -n                   # a failure ends the job; generators that are done leave it to the trainer
done
wait "$trainer"                   # its status, if the shell took notice before it waited
