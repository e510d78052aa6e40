"""Prints the tables."""
import math

from engines import OURS, OURS_F32, OURS_ONNX


def cell(value, width=12):
    if value is None:
        return '-'.rjust(width)
    digits = 2 if value >= 10 else 3
    return ('%.*f' % (digits, value)).rjust(width)


def best_peer(row):
    times = [result['ms'] for engine, result in row['results'].items() if engine not in (OURS, OURS_F32, OURS_ONNX)]
    return min(times) if times else None


def ratio_of(row):
    """The time of this project over the time of the fastest other engine."""
    best = best_peer(row)
    return row['results'][OURS]['ms'] / best if best and OURS in row['results'] else None


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else None


def one_thread_ms(tables, table, net):
    """The time of this project on the same net and batch with one thread, if it was measured."""
    for other in tables:
        if other['threads'] == 1 and other['batch'] == table['batch'] and other is not table:
            for row in other['rows']:
                if row['net'] == net and OURS in row['results']:
                    return row['results'][OURS]['ms']
    return None


def print_times(tables, options):
    """Prints the last of the tables; the others serve to compare threads."""
    table = tables[-1]
    names = list(table['engines'])
    print('\n%d thread%s on CPU %s, batch %d; medians of %d rounds in turns, each of %g ms or at least three runs after one more; ms'
          % (table['threads'], 's' if table['threads'] > 1 else '', ','.join(map(str, table['cpus'])), table['batch'], options.rounds,
             options.milliseconds))
    if options.precision != 'f32':
        print('precision: %s, and f32 of %s' % (options.precision, OURS_F32))
    print('versions: ' + ', '.join('%s %s' % pair for pair in table['engines'].items()))
    if table['peak_gflops']:
        print('peak of multiply-adds: %.0f GFLOP/s before, %.0f after; other processes used %.0f %% of the CPUs'
              % (table['peak_gflops'], table['peak_gflops_after'], 100 * table['foreign_load']))
    speedup = table['threads'] > 1 and any(one_thread_ms(tables, table, row['net']) for row in table['rows'])
    print('%-14s' % 'net' + ''.join(name.rjust(14) for name in names) + '       bound   ours/best' + ('  speed-up' if speedup else ''))
    for row in table['rows']:
        line = '%-14s' % row['net'] + ''.join(cell(row['results'].get(name, {}).get('ms'), 14) for name in names)
        line += cell(row['bound_ms']) + cell(ratio_of(row))
        if speedup:
            single = one_thread_ms(tables, table, row['net'])
            line += cell(single / row['results'][OURS]['ms'] if single and OURS in row['results'] else None, 10)
        print(line)
    ratios = {row['net']: ratio_of(row) for row in table['rows'] if ratio_of(row)}
    if ratios:
        worst = max(ratios, key=ratios.get)
        print('geometric mean of ours/best: %.3f; largest: %.3f (%s)' % (geometric_mean(list(ratios.values())), ratios[worst], worst))
    largest = max((result['difference'] for row in table['rows'] for result in row['results'].values()), default=0)
    print('outputs agree within %.1e of their standard deviation' % largest, flush=True)


def names_of(rows):
    """All engines of the rows, in order; some nets do not run in all."""
    return list(dict.fromkeys(name for row in rows for name in row['results']))


def print_memory(rows):
    """An engine's column: peak of the process, and in brackets without what it used before the net was loaded."""
    names = names_of(rows)
    print('\npeak resident memory of a fresh process after loading and two runs, batch %d, in MB (10^6 bytes)' % (rows[0]['batch'] if rows else 0))
    print('In brackets: without its peak before the net was loaded: for the peers, the Python interpreter and their packages.')
    print('%-14s' % 'net' + ''.join(name.rjust(18) for name in names) + '  ours/onnxruntime (without start)')
    for row in rows:
        line, peaks = '%-14s' % row['net'], {}
        for name in names:
            result = row['results'].get(name)
            if result is None:
                line += '-'.rjust(18)
                continue
            peak, start = result['peak_kib'] * 1024e-6, result['start_kib'] * 1024e-6
            peaks[name] = peak, peak - start
            line += ('%.0f (%.0f)' % (peak, peak - start)).rjust(18)
        if OURS in peaks and 'onnxruntime' in peaks:
            line += '  %.2f (%.2f)' % tuple(ours / theirs for ours, theirs in zip(peaks[OURS], peaks['onnxruntime']))
        print(line)


def print_load(rows):
    names = names_of(rows)
    print('\nmilliseconds from the files to a net that is ready + the first run, in a fresh process; files in the page cache')
    print('%-14s' % 'net' + ''.join(name.rjust(20) for name in names))
    for row in rows:
        line = '%-14s' % row['net']
        for name in names:
            result = row['results'].get(name)
            line += ('%.1f + %.1f' % (result['load_ms'], result['first_ms']) if result else '-').rjust(20)
        print(line)
