#!/bin/sh
# extract_snippets.sh DOCUMENT FOLDER: writes the C++ and CMake snippets of a Markdown file as files below a folder.
#
# A snippet is a fenced block with the language cpp or cmake. Its first line is a comment with the name of its file, and
# nothing else except ", continued" for text that belongs to the end of an earlier snippet's file.
set -eu
rm -rf "$2"
mkdir -p "$2"
awk -v folder="$2" -v document="$1" '
  /^```(cpp|cmake)$/ { starts = 1; next }
  starts {
    if (!match($0, /^(\/\/|#) [A-Za-z0-9_.\/]+(, continued)?$/)) {
      printf "%s:%d: a snippet starts with \"%s\", want the name of its file in a comment\n", document, NR, $0
      exit failed = 1
    }
    file = folder "/" $2
    sub(/,$/, "", file)
    name = file
    sub(/[^\/]*$/, "", name)
    system("mkdir -p \"" name "\"")
    if (NF == 2 && file in seen) {
      printf "%s:%d: a second snippet for \"%s\", want \", continued\"\n", document, NR, $2
      exit failed = 1
    }
    seen[file] = 1
    starts = 0
    inside = 1
  }
  /^```$/ { if (inside) close(file); inside = 0; next }
  inside { print >> file }
' "$1"
