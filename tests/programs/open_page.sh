#!/usr/bin/env bash
# Opens a page in headless Chromium, and prints its document after the scripts ran.
#
#   open_page.sh PAGE.html [SCREENSHOT.png [WIDTH,HEIGHT]]
#
# PAGE may end in "#TEXT", which searches for TEXT. Exits with 77 if there is no Chromium.
set -euo pipefail
page=$1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "needs chromium" >&2
  exit 77
fi
profile=$(mktemp -d)
trap 'rm -rf "$profile" 2> /dev/null || true' EXIT
open_page() {
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --user-data-dir="$profile" --window-size="${size:-1400,900}" --virtual-time-budget=5000 "$@" "file://$page" \
    2> "$profile/errors" || { cat "$profile/errors" >&2; exit 1; }
}
size=${3:-}
if [ -n "${2:-}" ]; then
  open_page --screenshot="$2" > /dev/null
fi
open_page --dump-dom
