"""Writes the readable page of the results: a table of the steps, and plots of what was measured. Plain HTML and SVG."""
import html

COLORS = ("#2f6fb0", "#d9822b", "#4a9a5b", "#a04f9d", "#7d7d7d", "#b94a48")
STYLE = """body { font: 15px sans-serif; max-width: 60em; margin: 2em auto; color: #222 }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #ddd; padding: .2em .7em; text-align: left; vertical-align: top }
.failed { color: #b00020; font-weight: bold } svg text { font: 12px sans-serif }"""


def bars(title, rows, unit):
    """A plot of (label, value) rows as horizontal bars. Colors repeat by the label's part before the first comma."""
    most = max((value for _, value in rows), default=0) or 1
    kinds = list(dict.fromkeys(label.split(",")[0] for label, _ in rows))
    lines = [f'<h3>{html.escape(title)}</h3>',
             f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{22 * len(rows) + 4}" role="img">']
    for i, (label, value) in enumerate(rows):
        y, width = 22 * i + 2, 460 * value / most
        text = f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
        color = COLORS[kinds.index(label.split(",")[0]) % len(COLORS)]
        lines.append(f'<text x="230" y="{y + 14}" text-anchor="end">{html.escape(label)}</text>'
                     f'<rect x="240" y="{y}" width="{width:.1f}" height="18" fill="{color}"/>'
                     f'<text x="{246 + width:.1f}" y="{y + 14}">{text} {html.escape(unit)}</text>')
    return "\n".join(lines + ["</svg>"])


def plots(results):
    figures = [result["figures"] for result in results if result.get("figures")]
    pools = [(figure["pool"], figure["ns"]) for figure in figures if "ns" in figure]
    if pools:
        yield bars("Memory pools: an allocation and its free", pools, "ns")
    for figure in figures:
        for copy in figure.get("copies", []):
            yield bars(f"{copy['what']}, {copy['kib']} KiB", [("library", copy["gbs"]), ("CUDA's own", copy["cuda_gbs"])], "GB/s")
    for figure in figures:
        for net in figure.get("nets", []):
            title = f"{net['net']}, batch {net['batch']}, {net['precision']}, {net['arm']}"
            yield bars(title, list(net["ms"].items()), "ms per run")
            ran = ", ".join(f"{kind}: {' and '.join(engines)}" for kind, engines in sorted(net["engines"].items()))
            yield f"<p>Engines that ran: {html.escape(ran or 'none is named')}</p>"


def origins(machine):
    """What ran: the libraries with their paths and versions, and how the kernels were compiled."""
    for library in machine["cuda"].get("libraries", []):
        yield f"{library['name']}: {library['detail']}"
    kernels = machine["kernels"]
    yield f"kernels: nvcc {kernels['compiler']}, architectures {kernels['architectures']}, flags {kernels['flags']}"


def page(machine, results):
    devices = ", ".join(device["name"] for device in machine["cuda"].get("devices", []))
    failed = sum(result["state"] != "passed" for result in results)
    lines = ["<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"><title>Results of the bundle</title>',
             f"<style>{STYLE}</style></head><body>", f"<h1>{html.escape(devices)}</h1>",
             f"<p>{html.escape(machine['version'])}, {html.escape(machine['system'])}, {html.escape(machine['libc'])}<br>"
             f"{html.escape(machine['nvidia_smi'])}</p>",
             f"<p>{'<br>'.join(html.escape(line) for line in origins(machine))}</p>",
             f"<p>{len(results) - failed} steps passed, {failed} failed.</p>",
             "<table><tr><th>step</th><th>result</th><th>what it showed</th><th>engines that ran</th><th>seconds</th></tr>"]
    for result in results:
        engines = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in result.get("engines", {}).items())
        lines.append(f"<tr><td>{html.escape(result['name'])}</td><td class=\"{result['state']}\">{result['state']}</td>"
                     f"<td>{html.escape(result['summary'])}</td><td>{html.escape(engines)}</td><td>{result['seconds']:.1f}</td></tr>")
    return "\n".join(lines + ["</table>", *plots(results), "</body></html>", ""])
