"""Draws the times of compare.py as an SVG file: bars relative to the fastest other engine, a panel for each table."""
from xml.sax.saxutils import escape

from engines import OURS, OURS_ONNX
from report import best_peer

COLORS = {OURS: '#c0392b', OURS_ONNX: '#e08070', 'onnxruntime': '#2e6da4', 'openvino': '#6aa84f', 'ncnn': '#e0a030'}
BAR, GAP, LEFT, PANEL, MOST = 12, 18, 46, 190, 2.0


def text(x, y, content, size=11, anchor='middle', rotate=0):
    turned = ' transform="rotate(%d %.1f %.1f)"' % (rotate, x, y) if rotate else ''
    return '<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s"%s>%s</text>' % (x, y, size, anchor, turned, escape(content))


def bar(x, base, value, color):
    """A bar up to MOST; a larger value is written above it."""
    height = min(value, MOST) / MOST * (PANEL - 60)
    parts = ['<rect x="%.1f" y="%.1f" width="%d" height="%.1f" fill="%s"/>' % (x, base - height, BAR, height, color)]
    if value > MOST:
        parts.append(text(x + BAR / 2 + 3, base - height - 3, '%.1f' % value, 8, 'start', -60))
    return parts


def panel(table, top):
    names, base = list(table['engines']), top + PANEL - 30
    step = BAR * len(names) + GAP
    right = LEFT + step * len(table['rows'])
    parts = [text(LEFT, top + 12, '%d thread%s, batch %d: time relative to the fastest other engine (lower is better)'
                  % (table['threads'], 's' if table['threads'] > 1 else '', table['batch']), 12, 'start')]
    for level in (0, 0.5, 1.0, 1.5, 2.0):
        y = base - level / MOST * (PANEL - 60)
        parts.append('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="%s"/>' % (LEFT, y, right, y, '#555' if level == 1 else '#ddd'))
        parts.append(text(LEFT - 6, y + 4, '%g' % level, 10, 'end'))
    for number, row in enumerate(table['rows']):
        x, best = LEFT + GAP / 2 + number * step, best_peer(row)
        for place, name in enumerate(names):
            if best and name in row['results']:
                parts += bar(x + place * BAR, base, row['results'][name]['ms'] / best, COLORS.get(name, '#888'))
        parts.append(text(x + BAR * len(names) / 2, base + 14, row['net'], 9))
    return parts, right


def write_plot(path, result):
    parts, width, top = [], 0, 30
    names = []
    for table in result['tables']:
        content, right = panel(table, top)
        parts += content
        width, top = max(width, right + 20), top + PANEL
        names += [name for name in table['engines'] if name not in names]
    parts.append(text(LEFT, 16, result['cpu'], 10, 'start'))
    for number, name in enumerate(names):
        x = width - 100 * (len(names) - number)
        parts.append('<rect x="%.1f" y="7" width="10" height="10" fill="%s"/>' % (x, COLORS.get(name, '#888')))
        parts.append(text(x + 14, 16, name, 10, 'start'))
    with open(path, 'w') as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif">\n' % (width, top + 10))
        file.write('<rect width="100%" height="100%" fill="white"/>\n' + '\n'.join(parts) + '\n</svg>\n')
