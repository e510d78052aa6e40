#!/usr/bin/env python3
"""Compares the resources of the compiled kernels with the limits in kernel_limits.json.

usage: kernel_limits.py [--limits FILE] LOG

LOG is the output of a complete build of the bundle in which ptxas is verbose:

    CUDAFLAGS=-Xptxas=-v cmake --preset cuda-bundle
    cmake --build --preset cuda-bundle --clean-first 2>&1 | tee LOG

A kernel that uses a stack frame or spills registers keeps its variables in memory. Prints such kernels, those with the largest
frame first, and fails if they are more than the limits allow, or if the log has fewer kernels than a complete build. After an
improvement, or an increase that is meant, change kernel_limits.json. Exit code: 0, 1 if a limit is exceeded, 2 for wrong usage.
"""
import argparse
import json
import os
import re
import subprocess
import sys

ENTRY = re.compile(r"ptxas info\s*: Compiling entry function '([^']+)' for '([^']+)'")
PROPERTIES = re.compile(r"ptxas info\s*: Function properties for (\S+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def parse(lines, architecture):
    """Returns (bytes of stack frame, bytes of spills) by kernel. Lines of parallel compilations may alternate in the log, but those
    of one file stay together."""
    kernels, entries, subject = {}, set(), None
    for line in lines:
        if match := ENTRY.search(line):
            if match[2] == architecture:
                entries.add(match[1])
        elif match := PROPERTIES.search(line):
            subject = match[1]
        elif (match := FRAME.search(line)) and subject is not None:
            # A function that a kernel calls has properties, too, but is no entry.
            if subject in entries:
                frame, spills = int(match[1]), int(match[2]) + int(match[3])
                before = kernels.get(subject, (0, 0))
                kernels[subject] = (max(frame, before[0]), max(spills, before[1]))
            subject = None
    return kernels


def demangled(names):
    try:
        run = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return names
    return run.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("--limits", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel_limits.json"))
    parser.add_argument("log")
    args = parser.parse_args()
    with open(args.limits, encoding="utf-8") as file:
        limits = json.load(file)
    with open(args.log, encoding="utf-8", errors="replace") as file:
        kernels = parse(file, limits["architecture"])

    in_memory = sorted((name for name in kernels if any(kernels[name])), key=lambda name: (-kernels[name][0], name))
    for name, text in zip(in_memory, demangled(in_memory)):
        frame, spills = kernels[name]
        print(f"{frame} bytes of stack frame, {spills} bytes of spills: {text}")
    frames = sum(frame > 0 for frame, _ in kernels.values())
    spilling = sum(spills > 0 for _, spills in kernels.values())
    print(f"{len(kernels)} kernels for {limits['architecture']}, {frames} with a stack frame, {spilling} with spills")

    problems = []
    if len(kernels) < limits["kernels_at_least"]:
        problems.append(f"the log has {len(kernels)} kernels for {limits['architecture']}, want at least "
                        f"{limits['kernels_at_least']}: build everything (--clean-first) with CUDAFLAGS=-Xptxas=-v")
    for what, got, most in (("a stack frame", frames, limits["with_stack_frame_at_most"]),
                            ("spills", spilling, limits["with_spills_at_most"])):
        if got > most:
            problems.append(f"{got} kernels have {what}, want at most {most}: find the new one above and let it use fewer registers "
                            "or no local array, or raise the limit in kernel_limits.json")
    for problem in problems:
        print(f"kernel_limits.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
