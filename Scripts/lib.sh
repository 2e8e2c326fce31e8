# shellcheck shell=bash
# What the scripts of this folder share. It is sourced, never run.

set -euo pipefail
export LC_ALL=C

# Our own targets build with warnings as errors; Package.swift says why this is opt-in.
export SWIFT_OPERATION_STRICT=1

SCRIPT=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
SCRIPTS=$(dirname "$SCRIPT")
# The package to check. A canary points it at a broken one by `--root`.
ROOT=$(dirname "$SCRIPTS")
# The targets that Core is made of, as folders of Modules, each after those that it uses.
CORE=(Tools Paths Stores Clients Core)
CANARY=false
TEMPORARY=$(mktemp -d "${TMPDIR:-/tmp}/swift-operation.XXXXXX")
# SwiftPM keeps a lock file beside it for each package that was built in it.
trap 'rm -rf "$TEMPORARY" "$(dirname "$TEMPORARY")"/*"$(basename "$TEMPORARY")"_*.lock' EXIT

# forget_pins: a build with traits writes pins, from which a later build without them would fetch packages that it does not
# need. Those that were not there before are removed at the end.
forget_pins() {
  if [ ! -e "$ROOT/Package.resolved" ]; then
    trap 'rm -rf "$ROOT/Package.resolved" "$TEMPORARY" "$(dirname "$TEMPORARY")"/*"$(basename "$TEMPORARY")"_*.lock' EXIT
  fi
}

# Arguments for SwiftPM of builds that are tested and not worked on: without debug information, which only a stack trace needs, and
# by whole modules, which takes a sixth less processor time from nothing than file by file. A module file of its own job would
# check the types of each target a second time, a fifth of the time. With more than one thread the compiler still writes an object
# for each file, which SwiftPM expects.
TESTED=(-debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2
  -Xswiftc -no-emit-module-separately-wmo)

# build_with_traits ARGUMENT…: `swift build` in the same way each time. SwiftPM keeps traits in a set and hands them to the
# compiler in its order, so with more than one trait everything would be built anew by each command.
build_with_traits() {
  SWIFT_DETERMINISTIC_HASHING=1 swift build "$@"
}

fail() {
  echo "$(basename "$SCRIPT"): error: $*" >&2
  exit 1
}

# need TOOL…: a check whose tool is missing fails and says so.
need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 || fail "the tool '$tool' is missing"
  done
}

# parse_arguments "$@": sets CANARY and ROOT.
parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --canary) CANARY=true ;;
      --root)
        [ $# -gt 1 ] || fail "--root needs a folder"
        ROOT=$(cd "$2" && pwd)
        shift
        ;;
      *) fail "unknown argument '$1' (known: --canary, --root DIR)" ;;
    esac
    shift
  done
}

# limit SECONDS COMMAND…: ends a command that hangs, after printing the stacks of the tests that it runs. SwiftPM takes its test
# process with it on an interrupt.
limit() {
  local seconds=$1 status=0 watcher
  shift
  need timeout
  (
    trap 'kill "$!" 2>/dev/null' TERM
    sleep "$seconds" &
    wait "$!" && print_stacks
  ) &
  watcher=$!
  # The stacks take a few seconds.
  timeout --foreground --signal=INT --kill-after=30 $((seconds + 20)) "$@" || status=$?
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "$(basename "$SCRIPT"): error: not done after $seconds s: $*" >&2
  fi
  return "$status"
}

# print_stacks: the stacks of all threads of the test processes that this script has started, where gdb is there.
print_stacks() {
  command -v gdb >/dev/null 2>&1 || return 0
  local process
  for process in $(ps -eo pid=,ppid=,args= | awk -v root="$$" '
    { parent[$1] = $2; if ($0 ~ /xctest/ && $0 !~ /swift-test|timeout /) tests[$1] = 1 }
    END { for (id in tests) { for (up = id; up > 1; up = parent[up]) if (up == root) { print id; break } } }'); do
    gdb -p "$process" -batch -ex 'thread apply all backtrace 40' 2>/dev/null | grep -E '^(#|Thread)' | head -n 600
  done
}

# run_tests SECONDS ARGUMENT…: `swift test` with a limit, whose output is streamed. If it hangs, the tests that have not ended are
# listed.
run_tests() {
  local seconds=$1 status=0 log="$TEMPORARY/tests.log" streaming=()
  shift
  # SwiftPM buffers what it prints into a pipe, and its last lines would be lost with it.
  ! command -v stdbuf >/dev/null 2>&1 || streaming=(stdbuf -oL)
  limit "$seconds" ${streaming[@]+"${streaming[@]}"} swift test "$@" 2>&1 | tee "$log" || status=$?
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "the tests that have not ended:"
    awk '
      /^◇ Test ".*" started\.$/ { sub(/^◇ /, ""); sub(/ started\.$/, ""); begun[$0] += 1 }
      /^(✔|✘) Test ".*" (with [0-9]+ test cases? )?(passed|failed) after/ {
        sub(/^[^ ]+ /, ""); sub(/" .*$/, "\""); ended[$0] += 1
      }
      END { for (test in begun) if (begun[test] > ended[test]) print test }' "$log" | sort
  fi
  return "$status"
}

# existing PATH…: prints those of the paths that the package has.
existing() {
  local path
  for path in "$@"; do
    [ ! -e "$ROOT/$path" ] || echo "$path"
  done
}

# swift_files FOLDER…: prints the Swift files below those folders, relative to the package, builds left out.
swift_files() {
  local path
  for path in $(existing "$@"); do
    (cd "$ROOT" && find "$path" -name '.build*' -prune -o -type f -name '*.swift' -print)
  done | sort
}

# The targets of the manifest, one a line: name, type, path and the targets it depends on, separated by tabs; what it
# depends on with a trait included.
manifest_targets() {
  swift package --package-path "$ROOT" --enable-all-traits describe | awk '
    function flush() { if (name != "") print name "\t" type "\t" path "\t" uses; name = ""; uses = "" }
    /^[A-Z]/ { flush(); inside = ($0 == "Targets:"); list = 0; next }
    !inside { next }
    /^    Name: / { flush(); name = substr($0, 11); list = 0; next }
    /^    Type: / { type = substr($0, 11); next }
    /^    Path: / { path = substr($0, 11); next }
    /^    Target dependencies:/ { list = 1; next }
    /^    [A-Z]/ { list = 0; next }
    /^        / && list { sub(/^ +/, ""); uses = uses (uses == "" ? "" : " ") $0 }
    END { flush() }'
}

# The library products of the manifest, one a line, in its order: what a product depends on comes before it.
manifest_libraries() {
  swift package --package-path "$ROOT" describe | awk '
    /^[A-Z]/ { inside = ($0 == "Products:"); next }
    inside && /^    Name: / { name = substr($0, 11) }
    inside && /^        Library:/ { print name }'
}

# c_modules BUILD: prints the folders of the module maps of C modules, which packages that were built in the folder BUILD bring,
# one a line, and those of libraries of the system with the folders of their headers. The compiler needs them to import a module
# that uses one.
c_modules() {
  local path name flag
  for path in "$ROOT"/Modules/*/module.modulemap; do
    [ ! -e "$path" ] || dirname "$path"
  done
  { grep -o 'pkgConfig: "[^"]*"' "$ROOT/Package.swift" || true; } | cut -d '"' -f 2 | while IFS= read -r name; do
    for flag in $(pkg-config --cflags-only-I "$name" 2>/dev/null); do echo "${flag#-I}"; done
  done
  # Those that SwiftPM has written.
  find "$1" -maxdepth 2 -path '*.build/module.modulemap' 2>/dev/null | while IFS= read -r path; do dirname "$path"; done
  find "$1/../../checkouts" \( -path '*/Sources/*/module.modulemap' -o -path '*/include/module.modulemap' \) 2>/dev/null |
    while IFS= read -r path; do dirname "$path"; done
}

# The target that the compiler builds for.
target_triple() { swift -print-target-info | awk -F '"' '/"triple"/ { print $4; exit }'; }

# symbol_graphs MODULE BUILD FOLDER ARGUMENT…: writes the symbol graphs of a module that was built in the folder BUILD. What
# OperationCore exports of its own targets are symbols of OperationCore.
symbol_graphs() {
  local module=$1 build=$2 folder=$3 search=() arguments=() path triple part parts
  shift 3
  # SwiftPM builds for the compiler's plugins in a folder of its own.
  for path in "$build/Modules" "$build/Modules-tool"; do
    [ ! -d "$path" ] || search+=(-I "$path")
  done
  while IFS= read -r path; do search+=(-I "$path"); done < <(c_modules "$build")
  triple=$(target_triple)
  parts=$(awk '/^@_exported / { print $NF }' "$ROOT/Modules/Core/Exports.swift" 2>/dev/null || true)
  # shellcheck disable=SC2086 # One word a target.
  [ "$module" != OperationCore ] || arguments=(-experimental-allowed-reexported-modules="$(echo $parts | tr ' ' ,)")
  rm -rf "$folder"
  mkdir -p "$folder"
  swift symbolgraph-extract -module-name "$module" "${search[@]}" -target "$triple" -output-dir "$folder" \
    ${arguments[@]+"${arguments[@]}"} "$@" >&2 || fail "no symbol graph of $module"
  for part in $parts; do
    sed -i.old "s/\"extendedModule\":\"$part\"/\"extendedModule\":\"OperationCore\"/g
      s/\"targetFallback\":\"$part[.]/\"targetFallback\":\"OperationCore./g" "$folder"/*.symbols.json
    # The graphs of extensions have one name now, so each gets a folder.
    path="$folder/$module@$part.symbols.json"
    [ -e "$path" ] || continue
    mkdir -p "$folder/$part"
    mv "$path" "$folder/$part/$module@OperationCore.symbols.json"
  done
  rm -f "$folder"/*.old
}

# narrowed_package FOLDER TARGET…: the package with no test target but those, in a folder of its own. SwiftPM builds all test
# targets of a package or none, and they are most of what there is to build.
narrowed_package() {
  local folder=$1 entry target
  shift
  mkdir -p "$folder"
  for entry in $(existing Modules Plugins Tests); do
    [ -e "$folder/$entry" ] || ln -s "$ROOT/$entry" "$folder/$entry"
  done
  {
    cat "$ROOT/Package.swift"
    echo
    echo 'let testTargets: Set<String> = ['
    for target in "$@"; do echo "  \"$target\","; done
    echo ']'
    echo 'package.targets.removeAll { $0.type == .test && !testTargets.contains($0.name) }'
  } >"$folder/Package.swift.new"
  # An unchanged manifest stays, so that an earlier build serves.
  if cmp -s "$folder/Package.swift.new" "$folder/Package.swift"; then
    rm "$folder/Package.swift.new"
  else
    mv "$folder/Package.swift.new" "$folder/Package.swift"
  fi
}

# traits: the traits of the manifest, one a line. The trait SwiftOperation<Name> belongs to the library Operation<Name>.
traits() { swift package --package-path "$ROOT" show-traits | awk '$1 != "default" { print $1 }'; }

# The traits whose packages take minutes to build. The build with traits that several checks share leaves them out; what is behind
# them has a build of its own, SLOW_PACKAGE, for `--slow` and for tests that have changed.
SLOW_TRAITS="SwiftOperationAsyncHTTPClient SwiftOperationCrypto SwiftOperationMacros"

# slow_traits, quick_traits: the traits of the manifest that are such, and the others, one a line.
slow_traits() { traits | grep -Fx -f <(tr ' ' '\n' <<<"$SLOW_TRAITS") || true; }
quick_traits() { traits | grep -Fxv -f <(tr ' ' '\n' <<<"$SLOW_TRAITS") || true; }

# is_slow LIBRARY: whether the library is behind such a trait.
is_slow() { [[ " $SLOW_TRAITS " == *" Swift$1 "* ]]; }

# joined: the lines of the input with commas between them.
joined() { paste -s -d , -; }

# trait_tests: the test targets with code that depends on a trait, one a line: name, kind, and the paths of all that it is built
# from, separated by tabs. The kind is `slow` if it has code that depends on a trait whose packages take minutes to build, and `tests`
# otherwise. Of the paths of one that depends on such a trait there are only the files that name it: what takes minutes is not built
# for each change of Core.
trait_tests() {
  local name kind paths slow
  slow=$(tr ' ' '|' <<<"$SLOW_TRAITS")
  manifest_targets | awk -F '\t' '
    { type[$1] = $2; path[$1] = $3; uses[$1] = $4; order[NR] = $1 }
    function visit(name,    parts, count, i) {
      if (name in visited || !(name in path)) return
      visited[name] = 1
      found = found " " path[name]
      count = split(uses[name], parts, " ")
      for (i = 1; i <= count; i++) visit(parts[i])
    }
    END {
      for (i = 1; i <= NR; i++) {
        if (type[order[i]] != "test") continue
        delete visited
        found = ""
        visit(order[i])
        print order[i] "\t" substr(found, 2)
      }
    }' | while IFS=$'\t' read -r name paths; do
    grep -rq --include='*.swift' '^ *#if SwiftOperation' "$ROOT/${paths%% *}" || continue
    kind=tests
    if grep -rEq --include='*.swift' "^ *#if ($slow)" "$ROOT/${paths%% *}"; then
      kind=slow
      # shellcheck disable=SC2086 # One word a path.
      paths=$(cd "$ROOT" && grep -rEl --include='*.swift' "^ *#if !?($slow)" $paths | sort -u | paste -s -d ' ' -)
    fi
    printf '%s\t%s\t%s\n' "$name" "$kind" "$paths"
  done
}

# trait_package TARGET…: sets TRAIT_PACKAGE and SLOW_PACKAGE to arguments for SwiftPM that build the package with traits and those
# test targets. SLOW_PACKAGE has those of the kind `slow`, with the traits whose packages take minutes to build and no other one, and
# TRAIT_PACKAGE the rest, with all other traits.
trait_package() {
  local folder="$ROOT/.build-traits-short" name kind paths tests=() slow_tests=() on=(--enable-all-traits)
  if [ $# -gt 0 ]; then
    while IFS=$'\t' read -r name kind paths; do
      [[ " $* " == *" $name "* ]] || continue
      case $kind in
        slow) slow_tests+=("$name") ;;
        *) tests+=("$name") ;;
      esac
    done < <(trait_tests)
  fi
  SLOW_PACKAGE=()
  [ -z "$(slow_traits)" ] || on=(--traits "$(quick_traits | joined)")
  narrowed_package "$folder/package" ${tests[@]+"${tests[@]}"}
  TRAIT_PACKAGE=(--package-path "$folder/package" --scratch-path "$folder/build" "${on[@]}" "${TESTED[@]}")
  if [ -n "$(slow_traits)" ]; then
    on=(--traits "$(slow_traits | joined)" "${TESTED[@]}")
    narrowed_package "$folder/slow/package" ${slow_tests[@]+"${slow_tests[@]}"}
    SLOW_PACKAGE=(--package-path "$folder/slow/package" --scratch-path "$folder/slow/build" "${on[@]}")
  fi
}

# must_fail PATTERN COMMAND…: the command has to fail, and for the reason that the pattern names.
must_fail() {
  local pattern=$1 log="$TEMPORARY/canary.log"
  shift
  if "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "canary: no failure although '$pattern' was expected: $*"
  fi
  if ! grep -Eq -- "$pattern" "$log"; then
    tail -n 40 "$log" >&2
    fail "canary: failed, but not with '$pattern': $*"
  fi
  echo "canary: caught '$pattern'"
}

# must_pass COMMAND…: a canary's control, so that the failure next to it is due to what was broken.
must_pass() {
  local log="$TEMPORARY/control.log"
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    fail "canary: the sound input failed as well: $*"
  fi
}

# write_package FOLDER LIBRARY…: a small package of the same name whose libraries depend on nothing.
write_package() {
  local folder=$1 library
  shift
  mkdir -p "$folder"
  {
    echo '// swift-tools-version: 6.2'
    echo 'import PackageDescription'
    echo
    echo 'let libraries = ['
    for library in "$@"; do
      echo "  \"$library\","
      mkdir -p "$folder/Modules/$library"
      printf '/// A value.\npublic struct %sValue {}\n' "$library" >"$folder/Modules/$library/Value.swift"
    done
    echo ']'
    echo 'let package = Package('
    echo '  name: "swift-operation",'
    echo '  platforms: [.macOS(.v26)],'
    echo '  products: libraries.map { .library(name: $0, targets: [$0]) },'
    echo '  targets: libraries.map { .target(name: $0, path: "Modules/\($0)") }'
    echo ')'
  } >"$folder/Package.swift"
}
