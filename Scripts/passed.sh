# shellcheck shell=bash
# What has passed, so that a check that takes long runs only where what it reads has changed. It is sourced, after lib.sh.
#
# On this machine it is noted in a folder outside of the clone: for each check the hashes of the inputs with which it has passed. A
# clean clone needs none of it. Where nothing is noted of a check, the commit before is taken as one that has passed, as each commit
# has to: the one before HEAD, or HEAD if something is not committed. `Scripts/check --since` names another.

PASSED=${SWIFT_OPERATION_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/swift-operation}/passed

# inputs KIND FOLDER PATH…: the hash of the files below the paths, in a tree in that folder. Of the Swift files count
# - all: each byte;
# - code: the lines without blank ones and comments, and no article;
# - interface: public declarations and all documentation, which is what articles and samples depend on.
# Other files count as they are.
inputs() {
  local kind=$1 folder=$2 articles=()
  [ "$kind" != code ] || articles=(! -path '*.docc/*')
  shift 2
  (
    cd "$folder" || exit 1
    # What is not there, any more or yet, is left out.
    { find "$@" -name '.build*' -prune -o -type f ! -name Package.resolved ${articles[@]+"${articles[@]}"} -print0 2>/dev/null || true; } |
      sort -z |
      xargs -0 awk -v kind="$kind" '
        function indentation(line) { match(line, /^ */); return RLENGTH }
        FNR == 1 { print "file " FILENAME; swift = FILENAME ~ /\.swift$/; signature = 0; block = -1 }
        !swift || kind == "all" { print; next }
        /^[ \t]*$/ { next }
        kind == "interface" && /^[ \t]*\/\/\// { print; next }
        /^[ \t]*\/\// { next }
        kind == "code" { sub(/[ \t]+\/\/ [^"]*$/, ""); print; next }
        # Requirements and cases are as public as what they are in.
        block >= 0 { print; if (indentation($0) == block && /}/) block = -1; next }
        /(^|[ (@])(public|open) / || signature {
          print
          if (/(^| )(protocol|enum) / && /{$/) block = indentation($0)
          # The parameters and the result of a declaration may be on the lines after it.
          signature = !/[{}]/ && !/(^| )(var|let|case|typealias) /
        }' |
      git hash-object --stdin
  )
}

# commit_before FOLDER: puts the tree of the commit that is taken as one that has passed into the folder, unless it is there.
commit_before() {
  local commit=${SINCE:-HEAD}
  [ ! -d "$1" ] || return 0
  [ -n "${SINCE:-}" ] || [ -n "$(git -C "$ROOT" status --porcelain)" ] || commit='HEAD^'
  git -C "$ROOT" rev-parse --quiet --verify "$commit^{commit}" >/dev/null || return 1
  mkdir -p "$1"
  git -C "$ROOT" archive "$commit" | tar -x -C "$1"
}

# has_passed CHECK HASH KIND PATH…: whether the check has passed with what is below those paths, whose hash that is.
has_passed() {
  local check=$1 now=$2 notes before="$TEMPORARY/before"
  notes=$(notes_of "$check")
  if [ -e "$notes" ]; then
    grep -qx "$now" "$notes"
  else
    (commit_before "$before") && [ "$now" = "$(inputs "$3" "$before" "${@:4}")" ] && note_passed "$check" "$now"
  fi
}

# note_passed CHECK HASH: the last hundred are kept. A folder that cannot be written costs time and nothing else.
note_passed() {
  local notes lines
  notes=$(notes_of "$1")
  mkdir -p "$PASSED" 2>/dev/null || return 0
  lines=$({ cat "$notes" 2>/dev/null || true; echo "$2"; } | tail -n 100)
  echo "$lines" >"$notes.new" && mv "$notes.new" "$notes"
}

# notes_of CHECK: the file with the hashes of a check.
notes_of() { echo "$PASSED/${1//[^A-Za-z0-9-]/_}"; }
