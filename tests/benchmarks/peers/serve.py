"""The loop of an engine's process, with the commands and answers of engine_runner.cc: a line in, a line out.

An engine has load(folder, batch), run() and output(), and the class attributes `name` and `version`. What it needs is imported
when it is made, so that `memory` before `load` is the memory of the interpreter and the engine's packages.
"""
import json
import os
import sys
import time

import numpy as np


def peak_resident_kib():
    """Of this process alone; the resource module's figure would include its parent's."""
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM:'))


def read_inputs(folder, batch):
    """The names of the inputs and outputs, and the arrays of the inputs in the order of the file."""
    with open(os.path.join(folder, 'info.json')) as file:
        info = json.load(file)
    return {name: np.load(os.path.join(folder, '%s_%s.npy' % (name, batch))) for name in info['inputs']}


def execute(engine, line):
    command, *arguments = line.split()
    if command == 'load':
        folder, batch = arguments
        start = time.perf_counter()
        engine.load(folder, int(batch))
        return '%.6g' % ((time.perf_counter() - start) * 1e3)
    if command == 'run':
        times = []
        for _ in range(int(arguments[0])):
            start = time.perf_counter()
            engine.run()
            times.append('%.6g' % ((time.perf_counter() - start) * 1e3))
        return ' '.join(times)
    if command == 'save':
        np.save(arguments[0], engine.output())
        return ''
    if command == 'memory':
        return str(peak_resident_kib())
    if command == 'describe':
        return engine.version
    if command == 'unload':
        engine.unload()
        return ''
    raise ValueError('command "%s" is not known' % command)


def serve(engine):
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # what an engine prints must not be mixed with the answers
    for line in sys.stdin:
        try:
            answer = 'ok ' + execute(engine, line)
        except Exception as error:
            answer = 'error %s: %s' % (type(error).__name__, ' '.join(str(error).split())[:500])
        answers.write(answer.rstrip() + '\n')
        answers.flush()
