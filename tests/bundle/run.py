#!/usr/bin/env python3
"""Tests and times the library on this machine's GPU. Writes results/ and bundle-results.zip, to be sent back.

usage: run.py [options]

  --only PATTERN     run the steps whose names match the regular expression
  --without NAMES    leave out what this machine lacks on purpose: torch, sanitizer, oracle, models (comma-separated)
  --limit SECONDS    the time limit of every step, instead of its own
  --quick            the smallest net and one round, to try the script
  --results FOLDER   where to write (results)
  --list             print the steps and end

CAFFE2_TEST_SHARED   a folder with recorded cases and models, for the steps oracle_* and compare_*
LD_LIBRARY_PATH      the folders of cuBLAS, cuDNN and cuRAND, if the loader does not find them by itself

A step passes only if its program ran, within its time limit, and tested or measured something. A library that is missing fails the
step, which names it. A step that is killed at its limit fails and keeps the figures it had. Exit code: 0 if every step passed, 1 if one failed, 2 for a wrong option, 3 if there is no GPU.
"""
import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import page

ROOT = os.path.dirname(os.path.abspath(__file__))
OPTIONAL = ("torch", "sanitizer", "oracle", "models")
# Reasons of tests that cannot run on this machine. Any other reason is something missing, and fails the step.
FAIR_REASONS = re.compile(r"fake|needs \d+ devices|needs ThreadSanitizer|the pool keeps nothing|freeing waits|on the CPU|host memory"
                          r"|promises no order|no CUDA implementation|none of the operators has a CUDA|calls are counted|no memory pools|do not reach each other"
                          r"|nothing to compare|counts kernels|this machine has no onednn|cannot be stored on the device")
TEST_LIMIT, SANITIZER_LIMIT, BENCH_LIMIT = 900, 3600, 900
# How far a blob of floats on the GPU may be from that on the CPU: beside the blob's largest value, and, for sums that cancel, beside the
# largest value of all blobs of the net.
BLOB_TOLERANCE, NET_TOLERANCE = 1e-3, 1e-6


class Failure(Exception):
    def __init__(self, text, figures=None):
        super().__init__(text)
        self.figures = figures or {}


class Step:
    """A command with a time limit. `check` reads its output, after an exit code in `codes`: it returns (summary, figures) or raises
    Failure. `needs` raises Failure if the step cannot run."""

    def __init__(self, name, command, check, limit, env=None, needs=None, codes=(0,)):
        self.name, self.command, self.check, self.limit, self.codes = name, command, check, limit, codes
        self.env, self.needs = env or {}, needs or (lambda: None)


def find_python_module(name):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def missing_libraries(program):
    """The libraries that the loader does not find for a program."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    return sorted({line.split()[0] for line in lines if "not found" in line})


def run_limited(command, log, limit, env):
    """Runs a command in a process group of its own, which is killed at the limit. Returns its exit code, or None."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   env={**os.environ, **env}, start_new_session=True)
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


# --- what a step must show ---

def check_tests(text):
    """The output of a GoogleTest program: at least one test passed, and none was skipped for something that is missing."""
    found = re.search(r"^\[  PASSED  \] (\d+) tests?\.", text, re.M)
    passed = int(found[1]) if found else 0
    if passed == 0:
        raise Failure("no test passed")
    reasons = re.findall(r": Skipped\n(.*)$", text, re.M)
    for reason in reasons:
        if not FAIR_REASONS.search(reason):
            raise Failure(f"a test was skipped: {reason}")
    listed = len(set(re.findall(r"^\[  SKIPPED \] (\S+)$", text, re.M)))
    return f"{passed} tests passed, {listed} do not apply", {"passed": passed, "skipped": listed}


def check_sanitizer(text):
    summary, figures = check_tests(text)
    errors = re.search(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", text)
    if errors is None:
        raise Failure("compute-sanitizer printed no summary")
    if int(errors[1] or errors[2]) > 0:
        raise Failure(errors[0])
    return f"{summary}, no errors", figures


def check_oracle(text):
    found = re.search(r"^(\d+) passed, .*$", text, re.M)
    if not found or int(found[1]) == 0:
        raise Failure("no case was compared")
    return found[0], {"cases": int(found[1])}


def check_pool(text):
    found = re.search(r"pool (\w+) +([\d.]+) ns", text)
    if not found:
        raise Failure("no figure was printed")
    return found[0], {"pool": found[1], "ns": float(found[2])}


def check_copies(text):
    rows = re.findall(r"^(.+?) +(\d+) KiB +([\d.]+) GB/s +\(CUDA's own +([\d.]+)\)", text, re.M)
    if not rows:
        raise Failure("no figure was printed")
    return f"{len(rows)} copies measured", {"copies": [
        {"what": what, "kib": int(kib), "gbs": float(library), "cuda_gbs": float(own)} for what, kib, library, own in rows]}


def allowed_difference(blob, largest_of_net):
    kind = blob["type"].split(" ")[0]
    if kind in ("uint8", "int8"):
        return 1  # rounded floats
    return BLOB_TOLERANCE * blob["largest"] + NET_TOLERANCE * largest_of_net if kind in ("float", "float16", "double") else 0


def check_nets_agree(text):
    """The output of `caffe2 compare --json`: at least one blob was compared, and all are close enough."""
    last = (text.strip().splitlines() or ["no output"])[-1]
    if not last.startswith("{"):
        raise Failure(last)
    report = json.loads(last)
    compared = [blob for blob in report.get("blobs", []) if "elements" in blob]
    if not compared:
        raise Failure("no blob was compared")
    worst, largest_of_net = 0, max(blob["largest"] for blob in compared)
    for blob in report["blobs"]:
        if "mismatch" in blob:
            raise Failure(f"blob {blob['name']}: {blob['mismatch']}")
        if blob.get("elements", 0) == 0 or blob["max_absolute"] == 0:
            continue
        if not blob["max_absolute"] <= allowed_difference(blob, largest_of_net):  # it may be NaN
            raise Failure(f"blob {blob['name']} ({blob['type']}, operator {blob.get('first_operator', '-')}) differs by "
                          f"{blob['max_absolute']}, its largest value is {blob['largest']:g}")
        worst = max(worst, blob["max_absolute"] / max(blob["largest"], 1e-30))
    return f"{len(compared)} blobs agree, largest difference {worst:.1e} of a blob's largest value", {"blobs": len(compared), "worst": worst}


def check_timed_nets(text):
    # A program that is killed may leave part of a line.
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
    if not lines:
        raise Failure("no net was timed")
    figures = {"nets": [line for line in lines if "error" not in line]}
    for line in lines:
        name = f"{line['net']}, batch {line['batch']}"
        if "error" in line:
            raise Failure(f"{name}: {line['error']}", figures)
        ran = line["engines"].get("Conv", [])
        if ran != ["CUDNN"]:
            raise Failure(f"{name}: Conv ran {' and '.join(ran) or 'no engine'}, want cuDNN alone", figures)
    return f"{len(lines)} nets timed", figures


def check_ran(text):
    lines = text.strip().splitlines()
    if not lines:
        raise Failure("no output")
    return lines[-1], {}


# --- the steps ---

def sanitizer_program():
    return shutil.which("compute-sanitizer") or next(
        (path for path in ["/usr/local/cuda/bin/compute-sanitizer"] if os.path.exists(path)), None)


def need(found, text):
    def check():
        if not found():
            raise Failure(text)
    return check


def library_steps():
    """A step for each library of the vendor, that fails if it is missing."""
    def make(name):
        def check(text):
            cuda = next(device for device in json.loads(text) if device["name"] == "CUDA")
            library = next((l for l in cuda["libraries"] if l["name"] == name), None)
            if library is None:
                raise Failure(f"this build does not use {name}")
            if not library["found"]:
                raise Failure(f"{name} is missing: {library['detail']}")
            return f"{name} found", {"detail": library["detail"]}
        return Step(f"library_{name.lower()}", [f"{ROOT}/bin/caffe2", "devices", "--json"], check, 120)
    return [make(name) for name in ("cuBLAS", "cuDNN", "cuRAND")]


def compare_step(name, folder, init, predict, inputs):
    """Compares all blobs of a net on the CPU with those on the GPU, without TF32."""
    net = f"{folder}/{predict}"
    command = [f"{ROOT}/bin/caffe2", "compare", net, net, "--init-net", f"{folder}/{init}", "--device", "cpu", "--device2", "cuda:0",
               "--json", "--caffe2_allow_tf32=false"]
    for text in inputs:
        command += ["--input", text]
    # Exit code 1: a number is beyond the tolerance of `compare`, which is for each element.
    return Step(f"compare_{name}", command, check_nets_agree, TEST_LIMIT, codes=(0, 1))


def compare_steps(options):
    """A step for the demo's net, and for each row of the models' CASES.tsv."""
    steps = [compare_step("demo", f"{ROOT}/data/demo", "init_net.pb", "predict_net.pb", ["data=1,3,64,64"])]
    if "models" in options.without:
        return steps
    shared = os.environ.get("CAFFE2_TEST_SHARED", "")
    table = f"{shared}/models/CASES.tsv"
    if not os.path.exists(table):
        has_models = need(lambda: False, "CAFFE2_TEST_SHARED does not name a folder with models")
        return steps + [Step("compare_models", [], check_nets_agree, TEST_LIMIT, {}, has_models)]
    with open(table, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    for model, init, predict, inputs, *_ in rows:
        folder = f"{shared}/models/{model}"
        files = [f"{blob}={folder}/{name}" for blob, name in (text.split("=") for text in inputs.split(","))]
        steps.append(compare_step(f"{model}_{predict.rsplit('.', 1)[0]}", folder, init, predict, files))
    return steps


def test_command(program, extra=()):
    command = [*extra, f"{ROOT}/bin/{program['name']}"]
    if program.get("without"):
        command.append(f"--gtest_filter=-{program['without']}")
    return command


def all_steps(manifest, options):
    programs = manifest["programs"]
    # All modules are loaded at the start: loading one later would wait for a stream that a test holds.
    eager = {"CUDA_MODULE_LOADING": "EAGER"}
    on_device = {**eager, "CAFFE2_TEST_DEVICE": "cuda"}
    quick = ["--quick"] if options.quick else []
    steps = library_steps()
    for program in programs:
        pools = ["thc", "none", "cub", "async"] if program["kind"] == "pools" else [None]
        for pool in pools:
            env = {**(on_device if program["kind"] == "operators" else eager), **({"CAFFE2_TEST_CUDA_POOL": pool} if pool else {})}
            steps.append(Step(program["name"] + (f"_{pool}" if pool else ""), test_command(program), check_tests, TEST_LIMIT, env))
    if "oracle" not in options.without:
        shared = os.environ.get("CAFFE2_TEST_SHARED", "")
        has_cases = need(lambda: os.path.isdir(f"{shared}/oracle"), "CAFFE2_TEST_SHARED does not name a folder with recorded cases")
        for name, extra in (("engines", []), ("native", ["--native"])):
            steps.append(Step(f"oracle_{name}", [f"{ROOT}/bin/{manifest['oracle']}", "--device", "cuda", *extra, f"{shared}/oracle"],
                              check_oracle, TEST_LIMIT, eager, has_cases))
    steps += compare_steps(options)
    # Only with a pool of single allocations does memcheck see an overrun. Under the sanitizer, loading all of cuBLAS and cuDNN at the start
    # would take minutes.
    sanitized = {"CUDA_MODULE_LOADING": "LAZY", "CAFFE2_TEST_DEVICE": "cuda", "CAFFE2_TEST_CUDA_POOL": "none"}
    if "sanitizer" not in options.without:
        tool_program = sanitizer_program()
        installed = need(lambda: tool_program, "compute-sanitizer is not installed")
        for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
            for program in programs:
                if program["kind"] != "operators":
                    continue
                # Tests provoke errors of CUDA calls, such as allocations that fail.
                options_of_tool = ["--report-api-errors", "no"] if tool == "memcheck" else []
                command = test_command(program, [tool_program or "compute-sanitizer", "--tool", tool, *options_of_tool,
                                                 "--error-exitcode", "9"])
                steps.append(Step(f"{tool}_{program['name']}", command, check_sanitizer, SANITIZER_LIMIT, sanitized, installed))
    optimized = need(lambda: "Ofast-compile" not in manifest["cuda_flags"],
                     f"the kernels were compiled with {manifest['cuda_flags']}, which makes every figure wrong; "
                     "configure the bundle in a new folder, without CUDAFLAGS")
    for pool in ("raw", "async", "none", "cub", "thc"):
        steps.append(Step(f"bench_pool_{pool}", [f"{ROOT}/bin/cuda_bench", "--pool", pool, *quick], check_pool, BENCH_LIMIT, {}, optimized))
    steps.append(Step("bench_copies", [f"{ROOT}/bin/cuda_bench", "--copies", *quick], check_copies, BENCH_LIMIT, {}, optimized))
    if "torch" not in options.without:
        steps.append(Step("torch", [sys.executable, f"{ROOT}/compare.py", "--check"], check_ran, 300, {},
                          need(lambda: find_python_module("torch"), "PyTorch is not installed")))
    for precision in ("fp32", "tf32"):
        for arm in ("heuristics", "search"):
            command = [sys.executable, f"{ROOT}/compare.py", "--precision", precision, "--arm", arm, *quick]
            if "torch" in options.without or not find_python_module("torch"):
                command.append("--alone")
            steps.append(Step(f"nets_{precision}_{arm}", command, check_timed_nets, 2 * BENCH_LIMIT, {}, optimized))
    return steps


# --- running ---

def run_step(step, folder, limit):
    """Returns the result of a step, as it is written to results.json."""
    log, engines = f"{folder}/{step.name}.log", f"{folder}/{step.name}.engines"
    result = {"name": step.name, "command": step.command, "log": os.path.basename(log), "state": "failed"}
    started = time.monotonic()
    try:
        step.needs()
        for part in step.command:
            if part.startswith(f"{ROOT}/bin/"):
                if not os.path.exists(part):
                    raise Failure(f"the bundle has no program {os.path.basename(part)}")
                lacking = missing_libraries(part)
                if lacking:
                    raise Failure(f"this machine has no {', '.join(lacking)}")
        code = run_limited(step.command, log, limit, {**step.env, "CAFFE2_TEST_ENGINES": engines})
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if code is None:
            raise Failure(f"did not end within {limit:g} s and was killed", figures_of(step, text))
        if code not in step.codes:
            lines = re.findall(r"^\[  FAILED  \] (\S+)", text, re.M) or text.strip().splitlines()[-1:]
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise Failure(f"{how}: {', '.join(dict.fromkeys(lines[:5])) if lines else 'no output'}")
        result["summary"], result["figures"] = step.check(text)
        result["state"] = "passed"
    except Failure as failure:
        result["summary"], result["figures"] = str(failure), failure.figures
    except (OSError, ValueError, KeyError, StopIteration) as error:
        result["summary"] = f"{type(error).__name__}: {error}"
    result["seconds"] = round(time.monotonic() - started, 3)
    if os.path.exists(engines):
        ran = {}
        with open(engines, encoding="utf-8") as file:
            for line in file:
                kind, engine = line.rstrip("\n").split("\t")
                ran.setdefault(kind, set()).add(engine)
        result["engines"] = {kind: sorted(names) for kind, names in sorted(ran.items())}
    return result


def figures_of(step, text):
    """The figures in the output of a program that did not end."""
    try:
        return step.check(text)[1]
    except Failure as failure:
        return failure.figures
    except (ValueError, KeyError, StopIteration):
        return {}


def output_of(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def describe_machine(manifest):
    devices = json.loads(output_of([f"{ROOT}/bin/caffe2", "devices", "--json"]) or "[]")
    cuda = next((device for device in devices if device["name"] == "CUDA"), {})
    return {"system": platform.platform(), "libc": " ".join(platform.libc_ver()), "python": platform.python_version(), "cuda": cuda,
            "nvidia_smi": output_of(["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,clocks.max.sm", "--format=csv,noheader"]),
            "version": output_of([f"{ROOT}/bin/caffe2", "--version"]),
            "kernels": {"flags": manifest["cuda_flags"], "compiler": manifest["cuda_compiler"],
                        "architectures": manifest["cuda_architectures"]}}


def write_results(folder, machine, results):
    with open(f"{folder}/results.json", "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "steps": results}, file, indent=1)
        file.write("\n")
    with open(f"{folder}/results.html", "w", encoding="utf-8") as file:
        file.write(page.page(machine, results))
    archive = os.path.join(os.path.dirname(os.path.abspath(folder)), "bundle-results.zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name in sorted(os.listdir(folder)):
            zipped.write(f"{folder}/{name}", f"bundle-results/{name}")
    return archive


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    parser.add_argument("--without", default="", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--results", default=f"{ROOT}/results", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.without = [name for name in options.without.split(",") if name]
    for name in options.without:
        if name not in OPTIONAL:
            parser.error(f"--without {name}: want one of {', '.join(OPTIONAL)}")
    return options


def main():
    options = parse_options()
    with open(f"{ROOT}/bundle.json", encoding="utf-8") as file:
        manifest = json.load(file)
    # The bundle's own folders come first, so that programs load its libraries.
    folders = [f"{ROOT}/lib", f"{ROOT}/lib/cuda", os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    os.environ["CAFFE2_CUDA_MODULE"] = f"{ROOT}/lib/libcaffe2_cuda.so"
    steps = [step for step in all_steps(manifest, options) if re.search(options.only, step.name)]
    if not steps:
        print(f"run.py: no step matches {options.only!r}", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(step.name for step in steps))
        return 0
    machine = describe_machine(manifest)
    print(f"{machine['version']}, {machine['system']}, {machine['libc']}\n{machine['nvidia_smi']}".rstrip(), flush=True)
    if machine["cuda"].get("state") != "ready":
        print(f"run.py: no usable CUDA device: nothing was tested: {machine['cuda'].get('message', 'the program does not start')}",
              file=sys.stderr)
        return 3
    for device in machine["cuda"]["devices"]:
        print(f"{device['name']}, compute capability {device['compute_capability']}", flush=True)
    for library in machine["cuda"]["libraries"]:
        print(f"{library['name']}: {library['detail']}", flush=True)
    print(f"kernels: nvcc {manifest['cuda_compiler']}, {manifest['cuda_architectures']}, flags: {manifest['cuda_flags']}", flush=True)
    shutil.rmtree(options.results, ignore_errors=True)
    os.makedirs(options.results)
    results = []
    for step in steps:
        result = run_step(step, options.results, options.limit or step.limit)
        results.append(result)
        write_results(options.results, machine, results)  # what ran is kept, even if the machine goes away
        print(f"{'passed  ' if result['state'] == 'passed' else 'FAILED  '} {step.name}: {result['summary']}", flush=True)
    failed = sum(result["state"] != "passed" for result in results)
    left_out = f", left out: {', '.join(options.without)}" if options.without else ""
    print(f"{len(results) - failed} passed, {failed} failed{left_out}; send back {write_results(options.results, machine, results)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
