#!/bin/sh
# filter_header.sh HEADER: prints a header with Doxygen's comments instead of plain ones. Lines keep their numbers.
#
# The comment at the top describes the file. A comment line that is indented by two spaces or more and follows an empty
# comment line, or another such line, is code.
exec awk '
  # What Doxygen would take for a command or for HTML; code in backticks stays as it is.
  function escaped(text,    parts, n, i, result) {
    n = split(text, parts, "`")
    for (i = 1; i <= n; ++i) {
      if (i % 2 == 1) gsub(/[\\<>@#%]/, "\\\\&", parts[i])
      result = result (i > 1 ? "`" : "") parts[i]
    }
    return result
  }
  /^#pragma once/ { print "/// @file"; next }
  match($0, /^ *\/\/( |$)/) {
    text = substr($0, RLENGTH + 1)
    indent = substr($0, 1, index($0, "//") - 1)
    is_code = in_comment && text ~ /^  / && (previous == "" || previous_is_code)
    print indent "/// " (is_code ? "    " text : escaped(text))
    previous = text
    # An empty line within code does not end it.
    previous_is_code = text == "" ? 0 : is_code
    in_comment = 1
    next
  }
  # A comment behind a member or an enumerator.
  match($0, /[;,{] +\/\/ /) && $0 !~ /^ *\/\// && $0 !~ /^(#|namespace|}|typedef|class|struct)/ {
    at = RSTART + 1
    rest = substr($0, at)
    sub(/^ *\/\/ /, "", rest)
    print substr($0, 1, at - 1) " ///< " escaped(rest)
    in_comment = 0
    previous = "x"
    next
  }
  { print; in_comment = 0; previous = "x"; previous_is_code = 0 }
' "$1"
