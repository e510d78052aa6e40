#!/usr/bin/env python3
"""Prints what ptxas reports of the CUDA kernels of a build: registers, stack frames and spills. Needs no GPU.

usage: kernel_resources.py BUILD [options]

  BUILD               a build folder that was configured with nvcc (it need not be built)
  --arch sm_NN        the architecture to compile for (sm_75)
  --jobs N            compilers at a time (2)
  --only PATTERN      only the sources whose paths match the regular expression
  --json FILE         write the figures of every kernel
  --against FILE      compare with such a file: print kernels whose stack, spills or registers grew

Each CUDA source of the library is compiled to PTX by its command of compile_commands.json, and the PTX by `ptxas -v`. Prints the
number of kernels, how many have a stack frame or spill registers, the median and largest number of registers, and each kernel with
a stack frame or spills. Exit code: 0, or 1 if a source does not compile or --against finds a kernel that grew.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


def ptx_command(entry, arch, output):
    """The command that writes the source's PTX, made from the one that compiles it."""
    command = shlex.split(entry["command"]) if "command" in entry else list(entry["arguments"])
    kept, skip = [], False
    for word in command:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT", "-x", "-arch"):
            skip = True
        elif word in ("-c", "-MD", "cu") or re.match(r"-?-generate-code|-gencode|-arch=", word):
            pass
        else:
            kept.append(word)
    return [*kept, "-x", "cu", f"-arch={arch.replace('sm_', 'compute_')}", "--ptx", "-o", output]


def parse(text):
    """What ptxas -v printed, as {kernel: figures}."""
    kernels, name = {}, None
    for line in text.splitlines():
        if found := ENTRY.search(line):
            name = found[1]
            kernels[name] = {"registers": 0, "stack": 0, "spill_stores": 0, "spill_loads": 0}
        elif line.startswith("ptxas info    : Function properties for ") and not line.endswith(f" {name}"):
            name = None  # a function that a kernel calls
        elif name is not None and (found := STACK.search(line)):
            kernels[name].update(stack=int(found[1]), spill_stores=int(found[2]), spill_loads=int(found[3]))
        elif name is not None and (found := REGISTERS.search(line)):
            kernels[name]["registers"] = int(found[1])
    return kernels


def measure(entry, arch, folder):
    """Returns the kernels of a source, and an error."""
    name = os.path.join(folder, re.sub(r"\W", "_", entry["file"]))
    command = ptx_command(entry, arch, f"{name}.ptx")
    done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}, f"{entry['file']}: {done.stderr.strip()}"
    ptxas = os.path.join(os.path.dirname(command[0]), "ptxas")
    if not os.path.exists(ptxas):
        ptxas = "ptxas"
    done = subprocess.run([ptxas, "-v", f"-arch={arch}", f"{name}.ptx", "-o", os.devnull], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}, f"{entry['file']}: {done.stderr.strip()}"
    return parse(done.stdout + done.stderr), None


def readable(names):
    """Demangled names, shortened."""
    try:
        done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}
    return dict(zip(names, (line[:110] for line in done.stdout.splitlines())))


def grown(kernels, before):
    """The kernels that have more of something than before, as lines."""
    lines = []
    for name in sorted(kernels.keys() & before.keys()):
        more = [f"{key} {before[name][key]} -> {kernels[name][key]}" for key in ("stack", "spill_stores", "spill_loads", "registers")
                if kernels[name][key] > before[name][key]]
        if more:
            lines.append((name, ", ".join(more)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("build", help=argparse.SUPPRESS)
    parser.add_argument("--arch", default="sm_75", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    parser.add_argument("--json", default="", help=argparse.SUPPRESS)
    parser.add_argument("--against", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with open(f"{options.build}/compile_commands.json", encoding="utf-8") as file:
        entries = [entry for entry in json.load(file)
                   if entry["file"].endswith(".cu") and "caffe2_cuda_objects.dir" in entry.get("output", entry.get("command", ""))
                   and re.search(options.only, entry["file"])]
    if not entries:
        print("kernel_resources.py: the build has no such CUDA sources that nvcc compiles", file=sys.stderr)
        return 1
    kernels, errors = {}, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found, error in pool.map(lambda entry: measure(entry, options.arch, folder), entries):
            kernels.update(found)
            if error:
                errors.append(error)
    for error in errors:
        print(f"kernel_resources.py: {error}", file=sys.stderr)
    if not kernels:
        return 1
    stack = [name for name, figures in kernels.items() if figures["stack"] > 0]
    spills = [name for name, figures in kernels.items() if figures["spill_stores"] + figures["spill_loads"] > 0]
    registers = [figures["registers"] for figures in kernels.values()]
    print(f"{options.arch}, {len(entries)} sources: {len(kernels)} kernels, {len(stack)} with a stack frame, {len(spills)} with spills, "
          f"registers: median {statistics.median(registers):g}, most {max(registers)}")
    listed = sorted(set(stack) | set(spills))
    for name, text in readable(listed).items():
        figures = kernels[name]
        print(f"  stack {figures['stack']}, spills {figures['spill_stores']} + {figures['spill_loads']}, "
              f"registers {figures['registers']}: {text}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(kernels, file, indent=0, sort_keys=True)
    more = []
    if options.against:
        with open(options.against, encoding="utf-8") as file:
            more = grown(kernels, json.load(file))
        names = readable([name for name, _ in more])
        for name, text in more:
            print(f"  grew: {text}: {names[name]}")
    return 1 if errors or more else 0


if __name__ == "__main__":
    sys.exit(main())
