#!/usr/bin/env python3
"""Plants mutants into a clone of this repository: single changes of lines, each switched on at run time.

usage: plant_mutants.py CLONE [--count N] [--seed N] [--first N]
       plant_mutants.py CLONE --remove-failed BUILD_LOG

A mutant turns a condition, moves a bound, exchanges an operator or leaves a statement out. The clone gets
caffe2_core/base/fault.h and mutants.tsv (number, place, kind, change). Lines that do not compile are restored with
--remove-failed and the log of the build (keep going: `cmake --build DIR -- -k 0`); then build again. `--count 0` prepares a
clone for faults that are planted by hand: `fault::Planted(7) ? WRONG : RIGHT`.
"""
import argparse
import pathlib
import random
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = re.compile(r'(caffe2_core|contexts|operators|binaries)/.*\.(cc|h)$')
LEFT_OUT = re.compile(r'cuda|cudnn|cublas|/compat/|contexts/pool|binaries/(demo|hdf5)|_kernels\.h$|base/fault\.h$')
# Headers are compiled often: only those of operators.
HEADERS = re.compile(r'operators/(?!primitives|common|math)')
EXCHANGES = [(' < ', ' <= '), (' <= ', ' < '), (' > ', ' >= '), (' >= ', ' > '), (' == ', ' != '), (' != ', ' == '),
             (' && ', ' || '), (' || ', ' && '), (' + 1', ' + 2'), (' - 1', ''), (' + ', ' - '), (' - ', ' + '),
             (' * ', ' + '), (' / ', ' * '), (' % ', ' / '), ('std::min', 'std::max'), ('std::max', 'std::min'),
             ('true', 'false'), ('false', 'true')]
DECLARATION = re.compile(r'\s*(return|if|for|while|switch|else|case|do|using|const|auto|throw|static|template|typename|\}|delete|new|'
                         r'enum|struct|class|explicit|virtual|friend|operator|~|static_cast|SetDoc)\b')
SWITCH = 'caffe2rt::fault::Planted'


def git(root, *arguments):
    return subprocess.run(['git', '-C', root, *arguments], capture_output=True, text=True, check=True).stdout


def is_balanced(text):
    depth = 0
    for c in text:
        depth += (c in '([{') - (c in ')]}')
        if depth < 0:
            return False
    return depth == 0


def condition_of(line):
    """The range of the condition of an `if` that stands in one line, or None."""
    begin = re.match(r'\s*(?:\} else )?if \(', line)
    if not begin:
        return None
    depth, at, quoted = 1, begin.end(), False
    while at < len(line) and depth:
        if line[at] == '"':
            quoted = not quoted
        elif not quoted:
            depth += (line[at] == '(') - (line[at] == ')')
        at += 1
    text = line[begin.end():at - 1]
    if depth or ';' in text or re.search(r'[^=!<>]=[^=]', text):
        return None
    return begin.end(), at - 1


def places_of(lines, i):
    """What may be changed in line i: (kind, first, end)."""
    line, places = lines[i], []
    k = i - 1
    while k >= 0 and (not lines[k].strip() or lines[k].strip().startswith('//')):
        k -= 1
    ends_statement = k >= 0 and lines[k].rstrip().endswith((';', '{', '}'))
    condition = condition_of(line)
    if condition:
        places.append(('condition', *condition))
    found = re.match(r'(\s*return )([^{;][^;]*);$', line)
    if found and is_balanced(found.group(2)) and '{' not in found.group(2):
        places.append(('expression', found.start(2), found.end(2)))
    found = re.match(r'(\s*(?:const )?(?:[\w:<>,\*& ]+ )?[\w\.\->\[\]\*_]+ [\+\-\*/|&]?= )([^{;]+);$', line)
    several = found and re.search(r', \*?\w+ = ', found.group(2))
    if found and not several and ends_statement and is_balanced(found.group(2)) and '[&' not in found.group(2):
        places.append(('expression', found.start(2), found.end(2)))
    begins = re.match(r'\s*([\w:\.\->\(\)\[\]\*]+\(|[\w\.\->\[\]_]+ [\+\-\*/|&]?= )', line)
    if begins and ends_statement and not DECLARATION.match(line) and line.endswith((';', ',', '(')):
        places.append(('statement', len(line) - len(line.lstrip()), None))
    return places


def is_in_class(lines, i):
    """Whether line i is directly in the body of a class, an enumeration or a namespace."""
    indent = len(lines[i]) - len(lines[i].lstrip())
    for line in reversed(lines[:i]):
        text = line.strip()
        if text and len(line) - len(line.lstrip()) < indent and not text.startswith(('//', '#')):
            return bool(re.match(r'(public|private|protected|class|struct|enum|namespace|extern|union|:)\b|:', text))
    return True


def changes_of(text):
    for old, new in EXCHANGES:
        for found in re.finditer(re.escape(old), text):
            before, behind = text[:found.start()], text[found.end():]
            if before.count('"') % 2 == 1:
                continue
            if old in ('true', 'false') and (re.search(r'\w$', before) or re.match(r'\w', behind)):
                continue
            if old in (' + 1', ' - 1') and re.match(r'[\w.]', behind):
                continue
            yield before + new + behind


def mutant(line, place, number, choose):
    """The changed line and what was changed, or None."""
    kind, first, end = place
    if kind == 'statement':
        return f'{line[:first]}if (!{SWITCH}({number})) {line[first:]}', 'left out: ' + line.strip()
    text = line[first:end]
    changes = list(changes_of(text)) + ([f'!({text})'] if kind == 'condition' else [])
    if not changes:
        return None
    changed = choose(changes)
    return f'{line[:first]}{SWITCH}({number}) ? ({changed}) : ({text}){line[end:]}', f'{text}  ->  {changed}'


def prepare(root):
    shutil.copy(HERE / 'fault.h.in', root / 'caffe2_core/base/fault.h')
    shutil.copy(HERE / 'fault_cases.cc.in', root / 'tests/support/fault_cases.cc')
    targets = root / 'third_party/cmake/Caffe2rtTargets.cmake'
    text, row = targets.read_text(), '  add_executable(${name} ${arg_SOURCES})\n'
    if 'fault_cases' in text:
        return
    if text.count(row) != 1:
        raise SystemExit(f'{targets} has no row "{row.strip()}" in caffe2rt_test')
    targets.write_text(text.replace(row, '''  if(NOT TARGET fault_cases)
    add_library(fault_cases OBJECT ${CMAKE_SOURCE_DIR}/tests/support/fault_cases.cc)
    target_include_directories(fault_cases PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(fault_cases PRIVATE GTest::gtest)
  endif()
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:fault_cases>)
'''))


def plant(root, count, first):
    sources, candidates = {}, []
    for name in git(root, 'ls-files').split():
        if not SOURCES.match(name) or LEFT_OUT.search(name) or (name.endswith('.h') and not HEADERS.match(name)):
            continue
        lines = sources[name] = (root / name).read_text().split('\n')
        for i, line in enumerate(lines):
            text = line.strip()
            if len(line) - len(text) < 2 or not text or text.startswith(('//', '#')) or line.endswith('\\'):
                continue
            if any(word in line for word in ('constexpr', 'static_assert', 'consteval', 'requires', 'fault::', 'pid', 'kill(')):
                continue
            places = places_of(lines, i)
            if places:
                candidates.append((name, i, places))
    random.shuffle(candidates)
    rows, changed = [], set()
    for name, i, places in candidates:
        if len(rows) == count:
            break
        lines = sources[name]
        if is_in_class(lines, i):
            continue
        new = mutant(lines[i], random.choice(places), first + len(rows), random.choice)
        if new is None:
            continue
        lines[i] = new[0]
        changed.add(name)
        rows.append(f'{first + len(rows)}\t{name}:{i + 1}\t{new[1]}\n')
    for name in changed:
        lines = sources[name]
        if not any('base/fault.h' in line for line in lines):
            at = next(k for k, line in enumerate(lines) if line.startswith(('#include', 'namespace')))
            at += name.endswith('.cc') and lines[at].startswith('#include')
            lines.insert(at, '#include "caffe2_core/base/fault.h"')
        (root / name).write_text('\n'.join(lines))
    (root / 'mutants.tsv').write_text(''.join(rows))
    print(f'{len(rows)} mutants in {len(changed)} files')


def remove_failed(root, log):
    rows = [line.split('\t') for line in (root / 'mutants.tsv').read_text().splitlines(keepends=True)]
    failed = {}
    for found in re.finditer(r'((?:caffe2_core|contexts|operators|binaries)/[^:\s]+):(\d+):\d+: (?:fatal )?error',
                             pathlib.Path(log).read_text()):
        failed.setdefault(found.group(1), set()).add(int(found.group(2)))
    gone = set()
    for name, places in failed.items():
        lines = (root / name).read_text().split('\n')
        before = git(root, 'show', f'HEAD:{name}').split('\n')
        for place in places:
            for k in [place - 1 - d for d in range(5)]:  # an error may be reported behind the line
                found = re.search(re.escape(SWITCH) + r'\((\d+)\)', lines[k]) if 0 <= k < len(lines) else None
                if found:
                    row = next(row for row in rows if row[0] == found.group(1))
                    lines[k] = before[int(row[1].split(':')[1]) - 1]
                    gone.add(found.group(1))
                    break
        (root / name).write_text('\n'.join(lines))
    (root / 'mutants.tsv').write_text(''.join('\t'.join(row) for row in rows if row[0] not in gone))
    print(f'{len(gone)} mutants removed')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('clone', type=pathlib.Path)
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--first', type=int, default=1000, help='the number of the first mutant')
    parser.add_argument('--remove-failed', metavar='BUILD_LOG')
    options = parser.parse_args()
    root = options.clone.resolve()
    if root == HERE.parent.parent:
        raise SystemExit('CLONE is this repository, want a clone of it: its sources are changed')
    if options.remove_failed:
        return remove_failed(root, options.remove_failed)
    random.seed(options.seed)
    prepare(root)
    plant(root, options.count, options.first)


if __name__ == '__main__':
    main()
