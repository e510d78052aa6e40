"""Memory and loading time, each in a fresh process per engine and net."""
import os
import statistics

from engines import Engine, EngineError


def fresh(options, name):
    cpus = (options.cpus or list(range(os.cpu_count())))[-options.threads[0]:]
    return Engine(name, options.runner, options.threads[0], cpus, precision=options.precision)


def measure_memory(options):
    """Peak resident KiB before the net is loaded (interpreter, packages, libraries), after loading it, and after two runs."""
    rows = []
    for net in options.nets:
        row = {'net': net, 'batch': options.batch[0], 'results': {}}
        for name in options.engines:
            with fresh(options, name) as engine:
                start = int(engine.ask('memory'))
                try:
                    engine.ask('load %s %d' % (os.path.abspath(os.path.join(options.folder, net)), options.batch[0]))
                except EngineError:
                    continue
                loaded = int(engine.ask('memory'))
                engine.times(2)
                row['results'][name] = {'start_kib': start, 'loaded_kib': loaded, 'peak_kib': int(engine.ask('memory'))}
        rows.append(row)
    return rows


def measure_load(options):
    """Milliseconds from the files, in the page cache, to a net that is ready, and of its first run; medians over the rounds."""
    rows = []
    for net in options.nets:
        samples = {}
        for _ in range(options.rounds):
            for name in options.engines:
                with fresh(options, name) as engine:
                    try:
                        load = float(engine.ask('load %s %d' % (os.path.abspath(os.path.join(options.folder, net)), options.batch[0])))
                        samples.setdefault(name, []).append((load, engine.times(1)[0]))
                    except EngineError:
                        continue
        rows.append({'net': net, 'results': {name: {'load_ms': statistics.median(load for load, _ in pairs),
                                                    'first_ms': statistics.median(first for _, first in pairs)}
                                             for name, pairs in samples.items()}})
    return rows
