#!/usr/bin/env bash
# Follows README.md and then docs/start.md word for word in a fresh clone: runs each command of their
# "sh" and "console" fences, in their order, and compares its output with the page. It ends with a
# dataset made of a CSV file that is not ours, one of the module gonum, mapped and read back.
#
#	bash examples/readme/steps.sh
#
# Where README says python, $PYTHON runs; without it that command is left out, since CI has none. The
# tests are left out, because CI runs them by themselves.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export GOBIN=$work/bin PATH=$work/bin:$PATH # where go install puts tdict

csv=$(cd bench && go mod download -json gonum.org/v1/gonum | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/graph/formats/rdf/testdata/manifest.csv

# The clone is one of this repository, as it is committed.
export GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0="url.$here.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/go-tensordict/tensordict

# fences LANGUAGE prints the lines of the pages' fences of a language.
fences() {
	awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } $0 == "```" { inside = 0 } inside' "$here/README.md" "$here/docs/start.md"
}

# untimed removes what differs from one machine to the next: losses, times and speeds.
untimed() { sed -E '/^epoch|waited|elapsed/s/[0-9].*//'; }

python() { "$PYTHON" "$@"; }

# try COMMAND WANT runs a command, and compares its output unless WANT is "-".
try() {
	printf '$ %s\n' "$1"
	if [[ $1 == python* && -z ${PYTHON:-} ]]; then
		echo "(left out: PYTHON is not set)"
		return
	elif [[ $1 == "go test ./..."* ]]; then
		echo "(left out: CI runs the tests by themselves)"
		return
	fi
	eval "$1" >"$work/output"
	cat "$work/output"
	[ "$2" = - ] || diff <([ -z "$2" ] || untimed <<<"$2") <(untimed <"$work/output")
}

# shown runs the commands that the pages show with their output.
shown() {
	local command="" want=""
	while IFS= read -r line; do
		case $line in
		'$ '*)
			[ -z "$command" ] || try "$command" "$want"
			command=${line#'$ '} want=""
			;;
		*) want+=${want:+$'\n'}$line ;;
		esac
	done < <(fences console)
	try "$command" "$want"
}

cd "$work"
while IFS= read -r step; do
	case $step in
	'go run . your.csv'*) cp "$csv" your.csv ;;
	esac
	try "$step" -
	if [ "$step" = "cd tensordict" ]; then
		shown
	fi
done < <(fences sh)

# What the last step made.
test -s your-dataset/meta.json
test "$(wc -c <your-dataset/urgna2012.memmap)" -eq "$(($(wc -l <your.csv) - 1))" # a byte for each row's bool
grep -q '"test001"' "$work/output"                                               # the first row, read back
echo "the steps of README.md and docs/start.md: all right"
