# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The picture of a timeline, as SVG: a lane for each thread and adapter, and arrows for
messages."""
from html import escape

WIDTH, LEFT, RIGHT, TOP = 1000, 230, 20, 50
SPAN = WIDTH - LEFT - RIGHT
LANE = 44	# pixels of a lane
TICKS = 10	# at most
ARROWS = 400	# more of them would show nothing

STATES = {"running": "#2f6db3", "ready": "#e08a1e", "asleep": "#dde3ea"}
CALLS = {"begin": "#4a9d5b", "test": "#7a5bb0", "wait": "#b0475b"}
CALL = "#8a8f98"	# any other
STEPS = {"works": "#2f6db3", "does not look": "#d7372f", "cable": "#c9a227",
         "line": "#4a9d5b", "queue": "#8a8f98"}
LINE, COMMAND = "#4a9d5b", "#222222"


def tick_of(ms):
    """A round number of milliseconds between two ticks."""
    step = 10.0 ** -3
    while ms / step > TICKS:
        for factor in (2, 2.5, 2):
            step *= factor
            if ms / step <= TICKS:
                break
    return step


class Picture:
    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.parts = []
        self.y = TOP

    def x(self, at):
        at = min(max(at, self.begin), self.end)
        return LEFT + SPAN * (at - self.begin) / (self.end - self.begin)

    def text(self, x, y, text, anchor="start", size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, begin, end, y, height, colour, title=""):
        """What is shorter than half a pixel is drawn as wide as that."""
        if end < self.begin or begin > self.end:
            return
        x = self.x(begin)
        self.parts.append(f'<rect x="{x:.2f}" y="{y}" width="{max(self.x(end) - x, 0.5):.2f}" '
                          f'height="{height}" fill="{colour}"><title>{escape(title)}</title>'
                          f'</rect>')

    def lane(self, name):
        """Begin a lane; where it is."""
        y = self.y
        self.text(LEFT - 8, y + LANE / 2, name, "end")
        self.y += LANE
        return y

    def arrow(self, begin, y_from, end, y_to, colour, title):
        """What is outside of the window is cut off."""
        if end < self.begin or begin > self.end:
            return
        first, last = max(begin, self.begin), min(end, self.end)
        rise = (y_to - y_from) / (end - begin) if end > begin else 0
        y_to -= (end - last) * rise
        y_from += (first - begin) * rise
        self.parts.append(
            f'<line x1="{self.x(first):.1f}" y1="{y_from:.1f}" '
            f'x2="{self.x(last):.1f}" y2="{y_to:.1f}" '
            f'stroke="{colour}" stroke-width="1.2" marker-end="url(#tip)">'
            f'<title>{escape(title)}</title></line>')

    def axis(self):
        ms = (self.end - self.begin) / 1e6
        step, at = tick_of(ms), 0.0
        while at <= ms + step / 1000:
            x = LEFT + SPAN * at / ms
            self.parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{self.y}" '
                              f'stroke="#c8ccd2" stroke-width="0.5"/>')
            self.text(x, TOP - 10, f"{at:g}", "middle", 11)
            at += step
        self.text(LEFT - 8, TOP - 10, "ms", "end", 11)

    def legend(self, colours):
        x = LEFT
        self.y += 14
        for name, colour in colours.items():
            if x + 24 + 6.6 * len(name) > WIDTH:
                x, self.y = LEFT, self.y + 18
            self.parts.append(f'<rect x="{x}" y="{self.y - 9}" width="10" height="10" '
                              f'fill="{colour}"/>')
            self.text(x + 14, self.y, name, size=11)
            x += 30 + 6.6 * len(name)
        self.y += 6

    def svg(self, title):
        self.text(LEFT, 18, title, size=14)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y + 10:.0f}" '
            f'font-family="sans-serif">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
            'markerHeight="6" orient="auto"><path d="M0,0L8,4L0,8z"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{self.y + 10:.0f}" fill="white"/>',
            *self.parts, "</svg>", ""])


def thread_lane(picture, run, thread, name):
    y = picture.lane(name)
    for begin, end, state in thread.states(run.begin, run.end):
        picture.box(begin, end, y + 20, 14, STATES[state], state)
    for call, begin, end, _ in run.calls(thread):
        picture.box(begin, end, y + 8, 10, CALLS.get(call, CALL), call)


def draw(run, line, label, steps):
    """The picture as text. @line and @label are those of the report, @steps the titles of
    what the end waited for."""
    picture = Picture(run.begin, run.end)
    chain = run.chain()
    if chain:
        y = picture.lane("the end waited for")
        for begin, end, what, _ in chain:
            picture.box(begin, end, y + 12, 20, STEPS[what], steps[what])
    ports, rest, ranks = {}, list(run.threads), run.ranks()
    for hca in run.adapters:
        mine = [t for t in rest if t.rank == hca and hca in ranks]
        rest = [t for t in rest if t not in mine]
        below = len(ports) % 2
        for thread in () if below else mine:
            thread_lane(picture, run, thread, label(thread))
        ports[hca] = picture.lane(f"port of hca{hca}") + LANE / 2
        for thread in mine if below else ():
            thread_lane(picture, run, thread, label(thread))
    for thread in rest:
        thread_lane(picture, run, thread, label(thread))
    for m in run.messages:
        hca, begin, end = line(run, m)
        if hca in ports:
            picture.box(begin, end, ports[hca] - 5, 10, LINE, f"{m.op}, {m.bytes} bytes")
    for e in run.commands:
        begin, end = (run.clock.guest_time(e[name]) for name in ("begun", "done"))
        picture.box(begin, end, ports[e["hca"]] + 7, 6, COMMAND, e.get("op", "?"))
    for m in run.messages[:ARROWS]:
        if m.target not in ports or not m.arrived:
            continue
        title = f"{m.op}, {m.bytes} bytes"
        picture.arrow(m.left, ports[m.source], m.arrived, ports[m.target], "#222222", title)
        if m.reads and m.done:
            picture.arrow(m.done - run.recorded["latency"] * 1000, ports[m.target], m.done,
                          ports[m.source], LINE, f"{title}: the bytes")
    picture.axis()
    if chain:
        picture.legend(STEPS)
    picture.legend({**STATES, **CALLS, "other call": CALL, "bytes leave": LINE,
                    "command": COMMAND})
    more = len(run.messages) - ARROWS
    return picture.svg(f"{run.name}: {(run.end - run.begin) / 1e6:.2f} ms"
                       + (f" (arrows of {more} messages are left out)" if more > 0 else ""))
