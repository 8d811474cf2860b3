#!/usr/bin/env python3
"""Draws costs against sizes: reads the lines of datastream_bench_growth, writes an SVG."""

import math
import sys

WIDTH, HEIGHT = 460, 300  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 52, 36, 84, 40
COLUMNS = 2
NOTE = ("What one costs when there are so many. Both axes are logarithmic.",
        "Linear: the line is level. Caches that no longer suffice raise it once.",
        "Quadratic: the line rises by one field for each field to the right.")
COLORS = ("#0b66c3", "#c2410c", "#15803d", "#7e22ce")


def read(lines):
    """{panel: {label: [(size, cost)]}}: times by what there is so many of, and memory together."""
    panels = {}
    for line in lines:
        things, part, unit, size, cost = line.rstrip("\n").split("\t")
        memory = unit.startswith("bytes")
        panel = "memory" if memory else things
        label = f"{things}: {part}, {unit}" if memory else f"{part}, {unit}"
        panels.setdefault(panel, {}).setdefault(label, []).append((int(size), float(cost)))
    panels["memory"] = panels.pop("memory", {})  # last
    return panels


def decades(values):
    """The powers of ten around all values, as exponents."""
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def number(exponent):
    return f"{10**exponent:,}" if exponent >= 0 else f"{10.0**exponent:g}"


def draw(title, series, x, y):
    """One panel with its upper left corner at (x, y), both axes logarithmic."""
    points = [point for line in series.values() for point in line]
    x_first, x_last = decades([size for size, _ in points])
    y_first, y_last = decades([cost for _, cost in points])
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(size):
        return x + LEFT + width * (math.log10(size) - x_first) / (x_last - x_first)

    def up(cost):
        return y + TOP + height * (1 - (math.log10(cost) - y_first) / (y_last - y_first))

    out = [f'<text x="{x + LEFT}" y="{y + 18}" class="title">{title}</text>']
    for exponent in range(x_first, x_last + 1):
        at = across(10**exponent)
        out.append(f'<path d="M{at:.1f} {y + TOP}v{height}" class="grid"/>')
        out.append(f'<text x="{at:.1f}" y="{y + TOP + height + 16}" text-anchor="middle">'
                   f"{number(exponent)}</text>")
    for exponent in range(y_first, y_last + 1):
        at = up(10.0**exponent)
        out.append(f'<path d="M{x + LEFT} {at:.1f}h{width}" class="grid"/>')
        out.append(f'<text x="{x + LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
                   f"{number(exponent)}</text>")
    for index, (label, line) in enumerate(series.items()):
        color = COLORS[index % len(COLORS)]
        path = " ".join(f"{across(size):.1f},{up(cost):.1f}" for size, cost in line)
        out.append(f'<polyline points="{path}" stroke="{color}" class="line"/>')
        out.extend(f'<circle cx="{across(size):.1f}" cy="{up(cost):.1f}" r="2.5" fill="{color}"/>'
                   for size, cost in line)
        out.append(f'<text x="{x + LEFT}" y="{y + 34 + 13 * index}" fill="{color}">{label}</text>')
    return out


def svg(panels):
    rows = len(panels) // COLUMNS + 1  # with the note behind the last panel
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMNS * WIDTH}" '
        f'height="{rows * HEIGHT}" font-family="sans-serif" font-size="11">',
        "<style>.title{font-size:14px;font-weight:bold}.grid{stroke:#ddd}"
        ".line{fill:none;stroke-width:1.8}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for index, (panel, series) in enumerate(panels.items()):
        title = f"time, against the number of {panel}" if panel != "memory" else "memory, likewise"
        out += draw(title, series, index % COLUMNS * WIDTH, index // COLUMNS * HEIGHT)
    x, y = len(panels) % COLUMNS * WIDTH + LEFT, len(panels) // COLUMNS * HEIGHT
    out += [f'<text x="{x}" y="{y + 18 + 16 * index}">{line}</text>'
            for index, line in enumerate(NOTE)]
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(svg(read(sys.stdin)))
