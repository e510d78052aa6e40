"""Compares the speed, memory or loading time of this project with other engines, on the nets of make_nets.py.

compare_with_engines.sh sets everything up and calls this with the interpreter of its environment.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

import numpy as np

from convert_to_ncnn import convert
from engines import OURS, OURS_F32, OURS_ONNX, PEERS, Engine, EngineError, installed
from machine import ForeignLoad, cpu_flags, cpu_model
from make_nets import NETS, make_net
from measure import measure_load, measure_memory
from plot import write_plot
from quantize_nets import quantize
from report import print_load, print_memory, print_times

ORDER = ['resnet50', 'resnet18', 'squeezenet', 'mobilenet_v2', 'shufflenet', 'densenet121', 'googlenet', 'inception_v2', 'vgg19', 'alexnet',
         'zfnet512', 'minilm']
KNOWN = [OURS, OURS_ONNX, OURS_F32] + list(PEERS)
REDUCED = [OURS, OURS_F32, 'openvino']  # the engines that also compute in bf16 and int8
MAX_DIFFERENCE = 2e-3  # of the output's standard deviation; bfloat16 differs by more


def numbers(text):
    return [int(part) for part in text.split(',')]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--runner', required=True, help='the program engine_runner of the build to measure')
    parser.add_argument('--folder', required=True, help='where the nets are kept')
    parser.add_argument('--threads', type=numbers, default=[1], help='such as 1,2')
    parser.add_argument('--batch', type=numbers, default=[1], help='such as 1,8')
    parser.add_argument('--nets', default=','.join(ORDER), help='some of ' + ', '.join(ORDER))
    parser.add_argument('--engines', help='some of ' + ', '.join(KNOWN))
    parser.add_argument('--precision', choices=['f32', 'bf16', 'int8'], default='f32',
                        help='of all engines but caffe2rt_f32; with bf16 and int8, only OpenVINO is compared')
    parser.add_argument('--rounds', type=int, default=5, help='in each round, every engine is timed once')
    parser.add_argument('--milliseconds', type=float, default=150, help='time of an engine in a round; at least three runs are made')
    parser.add_argument('--cpus', type=numbers, help='the CPUs to use; the last ones by default')
    parser.add_argument('--separate-batch-norm', action='store_true', help='nets with SpatialBN operators of their own')
    parser.add_argument('--memory', action='store_true', help='compare the peak memory of loading and running')
    parser.add_argument('--load', action='store_true', help='compare the time from the files to the first result')
    parser.add_argument('--json', help='also write the results to this file')
    parser.add_argument('--plot', help='also draw the times, as an SVG file')
    options = parser.parse_args()
    options.nets = options.nets.split(',')
    default = [OURS] + list(PEERS) if options.precision == 'f32' else REDUCED
    options.engines = options.engines.split(',') if options.engines else default
    for kind, names, known in (('net', options.nets, NETS), ('engine', options.engines, KNOWN)):
        for name in names:
            if name not in known:
                parser.error('no %s "%s", want %s' % (kind, name, ', '.join(known)))
    wrong = [name for name in options.engines if options.precision != 'f32' and name not in REDUCED]
    if wrong:
        parser.error('engine "%s" has no precision %s here, want %s' % (wrong[0], options.precision, ', '.join(REDUCED)))
    return options


def prepare(options):
    """Writes the nets and drops engines that are not installed."""
    missing = [name for name in options.engines if name in PEERS and not installed(PEERS[name])]
    for name in missing:
        print('%s is not installed and is left out' % name, file=sys.stderr)
    options.engines = [name for name in options.engines if name not in missing]
    options.folder = os.path.join(options.folder, 'separate_batch_norm' if options.separate_batch_norm else 'folded')
    for name in options.nets:
        make_net(options.folder, name, options.separate_batch_norm)
        if 'ncnn' in options.engines:
            convert(os.path.join(options.folder, name))
        if options.precision == 'int8':
            quantize(os.path.join(options.folder, name), os.path.join(os.path.dirname(options.runner), 'caffe2'))


def difference(path, reference):
    """The largest difference, in standard deviations of the reference."""
    output = np.load(path).astype(np.float64).ravel()
    reference = np.load(reference).astype(np.float64).ravel()
    if output.shape != reference.shape or not np.isfinite(output).all():
        return float('inf')
    return float(np.max(np.abs(output - reference)) / np.std(reference))


def load_all(engines, folder, batch, scratch):
    """Loads a net in every engine. Returns for each that could the times of loading and of the first run, and its distance from the
    first of the peers that could, ONNX Runtime if it takes part."""
    results, reference = {}, None
    for engine in sorted(engines, key=lambda engine: engine.name not in ('onnxruntime', OURS_F32)):
        try:
            load = float(engine.ask('load %s %d' % (folder, batch)))
            first = engine.times(1)[0]
        except EngineError as error:
            print('%s: %s' % (os.path.basename(folder), error), file=sys.stderr)
            if engine.process.poll() is not None:
                raise
            continue
        output = os.path.join(scratch, engine.name + '.npy')
        engine.ask('save ' + output)
        reference = reference or output
        results[engine.name] = {'load_ms': load, 'first_ms': first, 'difference': difference(output, reference)}
    return results


def time_net(engines, folder, batch, options, scratch):
    results = load_all(engines, folder, batch, scratch)
    running = [engine for engine in engines if engine.name in results]
    counts, medians = {}, {engine.name: [] for engine in running}
    least = dict.fromkeys(medians, float('inf'))
    for engine in running:
        counts[engine.name] = max(3, min(1000, int(options.milliseconds / min(engine.times(2)))))
    for number in range(options.rounds):
        turn = number % len(running)
        for engine in running[turn:] + running[:turn]:
            times = engine.times(counts[engine.name] + 1)[1:]  # the first one warms the caches
            medians[engine.name].append(statistics.median(times))
            least[engine.name] = min(least[engine.name], min(times))
    for engine in running:
        results[engine.name].update({'ms': statistics.median(medians[engine.name]), 'min_ms': least[engine.name],
                                     'round_ms': medians[engine.name], 'runs_in_round': counts[engine.name]})
        engine.ask('unload')
    return results


def flops_of(folder):
    with open(os.path.join(folder, 'info.json')) as file:
        return json.load(file)['flops']


def measure_times(options, threads, batch, scratch):
    """One table: all nets with one number of threads and one batch."""
    cpus = (options.cpus or list(range(os.cpu_count())))[-threads:]
    engines = [Engine(name, options.runner, threads, cpus, precision=options.precision) for name in options.engines]
    try:
        table = {'threads': threads, 'batch': batch, 'cpus': cpus, 'engines': {engine.name: engine.ask('describe') for engine in engines},
                 'rows': []}
        ours = next((engine for engine in engines if engine.name == OURS), None)
        table['peak_gflops'] = float(ours.ask('peak')) if ours else None
        with ForeignLoad(engines) as load:
            for name in options.nets:
                folder = os.path.abspath(os.path.join(options.folder, name))
                row = {'net': name, 'results': time_net(engines, folder, batch, options, scratch)}
                row['bound_ms'] = flops_of(folder) * batch / table['peak_gflops'] / 1e6 if ours else None
                table['rows'].append(row)
                if sys.stderr.isatty():
                    print('%d threads, batch %d: %s' % (threads, batch, name), file=sys.stderr)
        if ours:  # the clock may have changed
            table['peak_gflops_after'] = float(ours.ask('peak'))
        table['foreign_load'] = load.share
        return table
    finally:
        for engine in engines:
            engine.close()


def wrong_outputs(tables):
    return ['%s on %s (%.1e)' % (engine, row['net'], result['difference']) for table in tables for row in table['rows']
            for engine, result in row['results'].items() if not result['difference'] <= MAX_DIFFERENCE]


def main():
    options = arguments()
    prepare(options)
    result = {'cpu': cpu_model(), 'flags': cpu_flags(), 'load_average': os.getloadavg(), 'rounds': options.rounds,
              'milliseconds': options.milliseconds, 'separate_batch_norm': options.separate_batch_norm,
              'precision': options.precision}
    print('%s (%s), load average %.2f' % (result['cpu'], ' '.join(result['flags']), result['load_average'][0]))
    wrong = []
    if options.memory:
        result['memory'] = measure_memory(options)
        print_memory(result['memory'])
    if options.load:
        result['load'] = measure_load(options)
        print_load(result['load'])
    if not options.memory and not options.load:
        result['tables'] = []
        with tempfile.TemporaryDirectory() as scratch:
            for threads in options.threads:
                for batch in options.batch:
                    result['tables'].append(measure_times(options, threads, batch, scratch))
                    print_times(result['tables'], options)
        if options.plot:
            write_plot(options.plot, result)
        if options.precision == 'f32':
            wrong = wrong_outputs(result['tables'])
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(result, file, indent=1)
    if wrong:
        sys.exit('compare_with_engines: outputs differ by more than %g standard deviations: %s' % (MAX_DIFFERENCE, ', '.join(wrong)))


if __name__ == '__main__':
    main()
