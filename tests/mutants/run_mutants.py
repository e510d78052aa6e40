#!/usr/bin/env python3
"""Runs the tests of a clone with planted faults against each of them.

usage: run_mutants.py BUILD --record          notes which test reaches which fault, with no fault switched on
       run_mutants.py BUILD [--only N-M,K]    switches each fault of mutants.tsv on, runs the tests that reach it

BUILD is the build folder of the clone (plant_mutants.py). A fault is found if a test fails, crashes or hangs; the others
survive, or no test reaches them. Tests that fail without a fault do not count. Results: BUILD/mutants/results.tsv; faults that are
in it are not run again. Tests of labels style and embedding are left out. `--cap SECONDS` limits the time for one fault: a
fault whose other tests take longer is undecided.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

QUICK = 0.5  # seconds: tests up to that run together


class Program:
    """A test of ctest; all tests of one GoogleTest program are one."""

    def __init__(self, command, properties, is_gtest, build):
        self.command, self.is_gtest = command, is_gtest
        self.folder = properties.get('WORKING_DIRECTORY', build)
        self.environment = dict(row.split('=', 1) for row in properties.get('ENVIRONMENT', []))

    def run(self, limit, variables):
        environment = {**os.environ, 'LANG': 'C.UTF-8', **self.environment, **variables}
        begin = time.monotonic()
        process = subprocess.Popen(self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output = process.communicate(timeout=limit)[0]
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, code = process.communicate()[0], 'hang'
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what the tests have left running
        except ProcessLookupError:
            pass
        return code, time.monotonic() - begin, output.decode(errors='replace')


def programs_of(build):
    listed = json.loads(subprocess.run(['ctest', '--show-only=json-v1'], cwd=build, capture_output=True, text=True,
                                       check=True).stdout)
    programs = {}
    for test in listed['tests']:
        command = test.get('command')
        properties = {row['name']: row['value'] for row in test.get('properties', [])}
        if not command or not os.path.exists(command[0]) or {'style', 'embedding'} & set(properties.get('LABELS', [])):
            continue
        is_gtest = any('gtest_filter' in word for word in command) or (len(command) == 1 and command[0].endswith('_test'))
        name = os.path.basename(command[0]) if is_gtest else test['name']
        words = [word for word in command if not word.startswith('--gtest')]
        programs.setdefault(name, Program(words, properties, is_gtest, build))
    return programs


def record(programs, folder, workers):
    def one(name):
        log = folder / name
        log.unlink(missing_ok=True)
        code, seconds, output = programs[name].run(1800, {'FAULT_LOG': str(log)})
        if log.exists():
            lines = sorted({line for line in log.read_text(errors='replace').splitlines() if line})
            log.write_text('\n'.join(lines))
        times = {found.group(1): int(found.group(2)) / 1000 for found in
                 re.finditer(r'\[  (?:     OK|FAILED ) \] (\S+?)(?:, where.*)? \((\d+) ms\)', output)}
        failed = re.findall(r'\[  FAILED  \] (\S+?)(?:,.*)? \(\d+ ms\)', output)
        (folder / f'{name}.json').write_text(json.dumps({'code': code, 'seconds': seconds, 'times': times, 'failed': failed}))
        print(f'{name}: {seconds:.1f} s', 'failed' if code else '', *failed[:3], flush=True)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, programs))


class Judge:
    def __init__(self, programs, folder, cap):
        self.programs, self.cap = programs, cap
        self.info, self.reach = {}, collections.defaultdict(lambda: collections.defaultdict(set))
        for name in programs:
            facts = folder / f'{name}.json'
            if not facts.exists():
                continue
            self.info[name] = json.loads(facts.read_text())
            log = folder / name
            for line in log.read_text(errors='replace').splitlines() if log.exists() else []:
                if line:
                    fault, case = line.split(maxsplit=1)
                    self.reach[int(fault)][name].add(case)

    def jobs(self, fault, place):
        """(estimated seconds, program, cases or None for all), the most promising first."""
        jobs, words = [], set(re.split(r'[/_.]', place))
        for name, cases in self.reach[fault].items():
            info = self.info[name]
            cases = cases - set(info['failed'])
            if not cases or (info['code'] != 0 and not info['failed']):
                continue
            weight = 1 + 2 * len(words & set(re.split(r'[/_.]', name)))
            if not self.programs[name].is_gtest or '-' in cases:
                jobs.append((info['seconds'] / weight, info['seconds'], name, None))
                continue
            seconds = {case: info['times'].get(case, 0.05) for case in cases}
            quick = [case for case in cases if seconds[case] <= QUICK]
            for group in ([quick] if quick else []) + [[case] for case in cases if seconds[case] > QUICK]:
                total = 0.1 + sum(seconds[case] for case in group)
                jobs.append((total / weight, total, name, group))
        return [job[1:] for job in sorted(jobs, key=lambda job: job[0])]

    def judge(self, fault, place):
        if not self.reach[fault]:
            return 'unreached', ''
        spent, left = 0, 0
        for seconds, name, cases in self.jobs(fault, place):
            if spent + seconds > self.cap:
                left += 1
                continue
            variables = {'FAULT': str(fault)}
            if cases and sum(map(len, cases)) < 100000:  # the system's limit for one variable
                variables.update(GTEST_FILTER=':'.join(cases), GTEST_FAIL_FAST='1')
            code, took, output = self.programs[name].run(min(600, 6 * seconds + 25), variables)
            spent += took
            if code != 0:
                found = re.search(r'\[  FAILED  \] (\S+)', output)
                return ('hang' if code == 'hang' else 'found'), f'{name} {found.group(1) if found else code}'
        return ('undecided' if left else 'survives'), f'{left} runs left out' if left else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--record', action='store_true')
    parser.add_argument('--only', default='', help='numbers of faults, such as 7,1000-1099')
    parser.add_argument('--places', type=pathlib.Path, help='a table of faults instead of mutants.tsv')
    parser.add_argument('--cap', type=float, default=60)
    parser.add_argument('--workers', type=int, default=os.cpu_count())
    options = parser.parse_args()
    build = options.build.resolve()
    folder = build / 'mutants'
    folder.mkdir(exist_ok=True)
    programs = programs_of(build)
    if options.record:
        return record(programs, folder, options.workers)
    table = options.places or build.parent.parent / 'mutants.tsv'
    places = {int(row[0]): row[1].strip() for row in (re.split(r'[\t|]', line) for line in table.read_text().splitlines())}
    wanted = set(places)
    if options.only:
        wanted = {n for part in options.only.split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
    results = folder / 'results.tsv'
    done = {int(line.split('\t')[0]) for line in results.read_text().splitlines()} if results.exists() else set()
    judge, lock = Judge(programs, folder, options.cap), threading.Lock()

    def one(fault):
        verdict, note = judge.judge(fault, places.get(fault, ''))
        with lock, results.open('a') as file:
            file.write(f'{fault}\t{verdict}\t{places.get(fault, "")}\t{note}\n')
            print(fault, verdict, places.get(fault, ''), note, flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        list(pool.map(one, [fault for fault in places if fault in wanted - done]))
    print(collections.Counter(line.split('\t')[1] for line in results.read_text().splitlines()))


if __name__ == '__main__':
    main()
