"""Looks at the page of OperationDevtools in a real browser: what `Scripts/check-devtools` runs."""

import contextlib
import http.client
import http.server
import json
import os
import re
import shlex
import socket
import sys
import tempfile
import threading
import time
import urllib.request

from browser import Browser
from program import Program, expect
from recording import write_recording
from work import work


def use_page(page, address, width):
    """Opens the page, watches, refetches, goes offline and back, and zooms: as somebody does it."""
    small = width < 760
    page.open(address)
    page.wait("the rows of stores", "document.querySelectorAll('.row').length >= 4")
    page.wait("that it is live", "document.querySelector('#connection').dataset.state === 'live'")
    expect(not page.evaluate("location.search.includes('token')"), "the token stays in the address")
    expect(
        # A page that is wider makes the window of a small screen wider.
        page.evaluate(f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}"),
        f"the page is wider than {width} pixels",
    )
    # The states change.
    before = page.evaluate("[...Devtools.page.model.rows.values()].reduce((sum, n) => sum + n.row.values, 0)")
    page.wait(
        "new values", f"[...Devtools.page.model.rows.values()].reduce((sum, n) => sum + n.row.values, 0) > {before}"
    )
    # A store is selected by a click, explained, and refetched by a click.
    row = page.wait("a query", "[...document.querySelectorAll('.row')].find((row) => row.node.row?.canBeStale)?.id")
    page.click(f"#{row}")
    page.wait("an explanation", "document.querySelector('#panel .headline, #panel .facts')")
    if small:
        expect(page.evaluate("document.body.dataset.view === 'details'"), "the store is not shown on a small screen")
    page.wait("the button Refetch", "document.querySelector('[data-action=refetch]')")
    page.click("[data-action=refetch]")
    page.wait("a run that this page has caused", "Devtools.page.model.events.some((e) => e.cause === 'devtools')")
    # Its value is a tree.
    page.click("#tab-value")
    page.wait("the value", "document.querySelector('#panel .value')")
    # Offline: runs pause. Back: they go on.
    page.click("#tab-simulation")
    page.wait("the simulation", "document.querySelector('#offline')")
    page.click("#offline")
    page.wait("paused runs", "Devtools.page.model.root.counts.paused > 0")
    page.wait("the pressed button", "document.querySelector('#offline').getAttribute('aria-pressed') === 'true'")
    see_waits(page, width)
    if small:
        page.click(".views [data-view=details]")
    page.click("#offline")
    page.wait("that no run is paused", "Devtools.page.model.root.counts.paused === 0")
    # The timeline is zoomed by the wheel, the button and the keyboard.
    if small:
        page.click(".views [data-view=timeline]")
    # Once it is drawn, its buttons have their places.
    page.wait("the drawn timeline", "Devtools.page.timeline.lanes.length > 0 && document.querySelector('#legend span')")
    x, y = page.evaluate(
        "(() => { const b = document.querySelector('#canvas').getBoundingClientRect();"
        " return [b.x + b.width * 0.7, b.y + b.height / 2]; })()"
    )
    span = page.evaluate("Devtools.page.timeline.span")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-200)
    page.wait("a shorter time after the wheel", f"Devtools.page.timeline.span < {span}")
    page.click("#zoom-out")
    page.click("#zoom-out")
    page.wait("a longer time", f"Devtools.page.timeline.span > {span}")
    page.evaluate("document.querySelector('#canvas').focus()")
    page.key("+")
    page.click("#fit")
    page.wait("all of the time", "Devtools.page.timeline.start <= Devtools.page.model.first")
    page.wait("a description", "/runs of/.test(document.querySelector('#canvas').getAttribute('aria-label'))")
    page.key("End")
    expect(page.log == [], f"the page's log: {page.log}")


def see_waits(page, width):
    """The graph of what waits for what has the paused runs, as a picture and as a list that the keyboard reaches."""
    if width < 760:
        page.click(".views [data-view=timeline]")
    page.click("#tab-waits")
    page.wait("a run that waits", "document.querySelector('.picture .node[data-tone=wait]')")
    page.wait("a condition", "document.querySelector('.picture .node[data-tone=thing]')")
    page.wait("a line between them", "document.querySelector('.picture .edge .head')")
    page.wait("the same as text", "/is paused: waits for .*network/i.test(document.querySelector('.graph ul').textContent)")
    expect(
        page.evaluate("[...document.querySelectorAll('.graph')].every((g) => g.querySelectorAll('li').length > 0)"),
        "a graph without a list",
    )
    expect(page.evaluate(f"document.documentElement.scrollWidth <= {width}"), "the graph makes the page wider")
    page.evaluate("document.querySelector('.graph li button').focus()")
    page.key("End")
    last = "[...document.querySelectorAll('.graph ul')][0].querySelector('li:last-child button')"
    page.wait("the last of the list in focus", f"document.activeElement === {last}")
    page.wait("its node in the picture", "document.querySelector('.picture .dim .node.lit, .picture svg.dim .node.lit')")
    page.click("#tab-timeline")
    page.wait("the timeline again", "document.querySelector('#waits').hidden && !document.querySelector('#lanes').hidden")


def names(page):
    """Every control has a name, for those who hear the page."""
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, [role=treegrid], canvas')]"
        ".filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"
    )
    expect(nameless == [], f"without a name: {nameless}")


def replay(browser, page, programs, folder):
    """Saves a recording as the button does, and looks at it by `operation-devtools replay`."""
    text = page.evaluate("Devtools.page.connection.get('/api/recording').then((answer) => answer.text())")
    path = os.path.join(folder, "recording.ndjson")
    with open(path, "w") as file:
        file.write(text)
    player = Program(programs["replay"], "replay", path)
    try:
        shown = browser.page()
        shown.size(1280, 800)
        shown.open(player.address())
        shown.wait("a recording", "document.querySelector('#connection').dataset.state === 'recording'")
        shown.wait("its stores", "document.querySelectorAll('.row').length >= 4")
        shown.wait("its runs", "Devtools.page.timeline.lanes.length > 0")
        events = "Devtools.page.model.eventsBefore(Devtools.page.model.now(), () => true, 100000).length"
        shown.evaluate("Devtools.page.goTo(1)")
        all_events = shown.evaluate(events)
        shown.evaluate("Devtools.page.goTo(0.3)")
        expect(shown.evaluate(events) < all_events, "the slider changes nothing")
        shown.evaluate("Devtools.page.goTo(1)")
        shown.click("#tab-waits")
        shown.wait("the waits of the recording", "document.querySelector('#waits h3')")
        shown.click("#tab-timeline")
        shown.click(".row:not([aria-expanded])")
        shown.wait("an explanation", "document.querySelector('#panel .headline')")
        expect(not shown.evaluate("document.querySelector('#actions button')"), "a recording has actions")
        expect(shown.log == [], f"the log of the recording: {shown.log}")
    finally:
        player.close()


def million(browser, address, folder, events):
    """Opens a recording of a million events, and moves its slider."""
    path = os.path.join(folder, "million.ndjson")
    size = write_recording(path, events)
    page = browser.page()
    page.size(1280, 800)
    page.open(address)
    page.wait("the page", "Devtools.page.model.isReady && document.querySelectorAll('.row').length >= 4")
    page.evaluate(
        """(() => {
          const open = Devtools.page.openRecording.bind(Devtools.page);
          Devtools.page.openRecording = async (file) => {
            const start = performance.now();
            await open(file);
            window.loadTime = performance.now() - start;
          }; })()"""
    )
    page.choose("#file", path)
    loading = page.wait("the recording", "window.loadTime", 120) / 1000
    count = page.evaluate("Devtools.page.recording.count")
    expect(count >= events, f"the recording has {count} events")
    times = page.evaluate(
        """(() => {
          const times = [];
          for (let index = 0; index < 200; index += 1) {
            const start = performance.now();
            Devtools.page.goTo((index * 0.618034) % 1);
            times.push(performance.now() - start);
          }
          return times.sort((a, b) => a - b); })()"""
    )
    slow = times[int(len(times) * 0.95)]
    print(
        f"{count} events of {size / count:.0f} bytes: opened in {loading:.1f} s, and 19 of 20 moves of the slider within {slow:.0f} ms",
        flush=True,
    )
    expect(loading <= 5, f"a recording of {count} events opens in {loading:.1f} s")
    expect(slow <= 50, f"the slider takes {slow:.0f} ms")
    expect(size / count <= 100, f"an event has {size / count:.0f} bytes")
    expect(page.log == [], f"the log of the recording: {page.log}")


def attack(browser, address):
    """A page of another origin in the same browser tries to read and to act."""
    base, token = re.match(r"(http://[^/]*)/\?token=(\w+)", address).groups()
    script = f"""<!doctype html><title>evil</title><script>
      const base = {json.dumps(base)}, token = {json.dumps(token)}, got = [];
      const attempt = async (name, path, options) => {{
        try {{
          const answer = await fetch(base + path, options);
          if (answer.type !== 'opaque') got.push(name + ' ' + answer.status + ' ' + (await answer.text()).slice(0, 60));
        }} catch {{}}
      }};
      const headers = {{ Authorization: 'Bearer ' + token }};
      (async () => {{
        await attempt('read', '/api/stores', {{ headers }});
        await attempt('page', '/?token=' + token);
        await attempt('act', '/api/action', {{ method: 'POST', headers, body: '{{"action":"simulate","isOffline":true}}' }});
        await attempt('simple', '/api/action', {{ method: 'POST', mode: 'no-cors', body: '{{"action":"simulate","isOffline":true}}' }});
        const script = document.createElement('script');
        script.src = base + '/devtools.js?token=' + token;
        await new Promise((end) => {{ script.onload = () => {{ got.push('script'); end(); }}; script.onerror = end; document.head.append(script); }});
        const frame = document.createElement('iframe');
        frame.src = base + '/?token=' + token;
        await new Promise((end) => {{ frame.onload = end; setTimeout(end, 2000); document.body.append(frame); }});
        try {{ if (frame.contentDocument?.body?.children.length) got.push('frame'); }} catch {{}}
        window.got = got;
      }})();
      </script><body></body>"""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(script.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        evil = browser.page()
        evil.open(f"http://127.0.0.1:{server.server_port}/")
        evil.wait("the end of the attack", "window.got !== undefined")
        got = evil.evaluate("window.got")
        expect(got == [], f"a page of another origin got {got}")
        request = urllib.request.Request(f"{base}/api/stores", headers={"Authorization": f"Bearer {token}"})
        extras = json.load(urllib.request.urlopen(request))["extras"]
        expect(extras["simulation"]["offline"] is False, "a page of another origin has acted")
    finally:
        server.shutdown()


def exhaust(address):
    """What needs no token: 300 connections that send nothing, and a long request line. The page is there for others all the same."""
    base, port, token = re.match(r"(http://127[.]0[.]0[.]1:(\d+))/\?token=([\w-]+)", address).groups()
    with contextlib.ExitStack() as sockets:
        for _ in range(300):
            sockets.enter_context(socket.create_connection(("127.0.0.1", int(port)), timeout=10))
        long = sockets.enter_context(socket.create_connection(("127.0.0.1", int(port)), timeout=10))
        long.sendall(b"GET /" + b"a" * 60_000)
        expect(b" 431 " in long.recv(100), "a request line of 60 kB is read on")
        request = urllib.request.Request(f"{base}/api/hello", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            expect(answer.status == 200, "beside 300 idle connections the page is not there")


class Reader:
    """Reads the feed of a page as the browser does, and does nothing with it: what the program pays for a page, without the browser,
    which takes as much of the processor as it gets."""

    def __init__(self, address):
        base, token = re.match(r"(http://[^/]+).*token=([^&#\s]+)", address).groups()
        request = urllib.request.Request(f"{base}/api/events", headers={"Authorization": f"Bearer {token}"})
        self.answer = urllib.request.urlopen(request, timeout=60)
        self.begun = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()
        expect(self.begun.wait(120), "the feed does not begin")

    def read(self):
        end = b""
        # Until the program stops serving.
        with contextlib.suppress(OSError, http.client.HTTPException):
            while part := self.answer.read1(1 << 16):
                # The last part of the beginning, which may be cut anywhere.
                if b'"ready":true' in (end := end[-20:] + part):
                    self.begun.set()


def measure(program, seconds):
    program.say(f"measure {seconds}")
    line = program.line("^fetches ", seconds + 60)
    words = line.split()
    return {words[index]: int(words[index + 1]) for index in range(0, len(words), 2)}


def load(browser, programs, stores, fetches, rounds, seconds):
    """Many stores and events: the page answers at once, and fetches cost hardly more. Rounds with and without a reader alternate."""
    program = Program(programs["subject"], "load", str(stores), str(fetches))
    try:
        program.line("ready", 120)
        measure(program, 1)
        without, with_page, answers, rates = [], [], [], []
        for _ in range(rounds):
            without.append(measure(program, seconds)["median"])
            program.say("begin")
            address = program.address()
            reader = Reader(address)
            with_page.append(measure(program, seconds)["median"])
            page = browser.page()
            page.size(1280, 800)
            page.open(address)
            page.wait("the stores", f"Devtools.page.model.rows.size === {stores} && Devtools.page.model.isReady", 120)
            program.say(f"measure {seconds}")
            end = time.monotonic() + seconds
            first = page.evaluate("Devtools.page.model.eventTotal")
            start = time.monotonic()
            while time.monotonic() < end - 0.3:
                times = page.evaluate(
                    """(async () => {
                      const times = {};
                      const time = async (name, act) => { const t = performance.now(); await act(); times[name] = performance.now() - t; };
                      const id = [...Devtools.page.model.rows.keys()][17];
                      await time('hello', () => Devtools.page.connection.get('/api/hello').then((a) => a.text()));
                      await time('explanation', () => Devtools.page.connection.get(`/api/explanation?store=${id}`).then((a) => a.json()));
                      await time('frame', () => new Promise((end) => requestAnimationFrame(end)));
                      return times; })()"""
                )
                answers.append(times)
                time.sleep(0.2)
            rates.append((page.evaluate("Devtools.page.model.eventTotal") - first) / (time.monotonic() - start))
            expect(page.evaluate("Devtools.page.model.dropped") == 0, "events were missed")
            program.line("^fetches ", seconds + 60)
            page.open("about:blank")
            program.say("end")
            program.line("ended", 60)
        middle = lambda numbers: sorted(numbers)[len(numbers) // 2]
        slow = {name: sorted(each[name] for each in answers)[int(len(answers) * 0.9)] for name in answers[0]}
        more = 100 * (middle(with_page) / middle(without) - 1)
        print(
            f"{stores} stores, {min(rates):.0f} events a second on the page: nine of ten answers within "
            + ", ".join(f"{time:.0f} ms ({name})" for name, time in slow.items())
            + f"; a fetch takes {middle(without) / 1000:.0f} µs without the page, {middle(with_page) / 1000:.0f} µs with it: {more:+.1f} %"
        )
        expect(min(rates) >= 2 * fetches * 0.9, f"only {min(rates):.0f} events a second reach the page")
        expect(max(slow.values()) <= 100, f"answers take {slow}")
        expect(more <= 10, f"fetches cost {more:.1f} % more")
    finally:
        program.close()


def main():
    programs = dict(argument.split("=", 1) for argument in sys.argv[1:])
    parts = programs.get("only", "page work replay million attack load").split()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        dashboard = Program(*shlex.split(programs["dashboard"]), "--devtools", "--seconds", "600")
        try:
            address = dashboard.address()
            dashboard.drain()
            for width, height, mobile in ((1280, 800, False), (390, 844, True)):
                if "page" in parts:
                    page = browser.page()
                    page.size(width, height, 1, mobile)
                    use_page(page, address, width)
                    names(page)
                    print(f"at {width} pixels: opened, changed, refetched, offline and back, zoomed", flush=True)
            if "replay" in parts:
                replay(browser, page, programs, folder)
                print("a recording was saved and shown", flush=True)
            if "million" in parts:
                million(browser, address, folder, 1_000_000)
            if "attack" in parts:
                attack(browser, address)
                exhaust(address)
                print("a page of another origin got nothing and changed nothing, and idle connections lock no one out", flush=True)
        finally:
            dashboard.close()
        if "work" in parts:
            work(browser, programs["subject"])
            print("a store was found, compared, held, failed and removed; the page was loaded again, and its program restarted", flush=True)
        if "load" in parts:
            load(browser, programs, 10_000, 500, 5, 5)


try:
    main()
except (AssertionError, FileNotFoundError, RuntimeError) as error:
    sys.exit(f"check-devtools: error: {error}")
