"""The page as a person works with it: with the made-up shop of DevtoolsSubject, which is restarted meanwhile."""

import http.server
import json
import os
import socket
import threading

from program import Program, expect

TOKEN = "a-token-that-stays-the-same"


class Shop:
    """The program, which has the same address each time that it is started."""

    def __init__(self, subject):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self.arguments = (subject, "shop", "--actions", "--port", port, "--token", TOKEN)
        self.start()

    def start(self):
        self.program = Program(*self.arguments)
        self.address = self.program.address()

    def close(self):
        self.program.close()


def row(label):
    """The row of the tree with a label, as an expression."""
    return f"[...document.querySelectorAll('.row')].find((row) => row.querySelector('.label').textContent === {json.dumps(label)})"


def choose(page, label):
    """Selects the store with a label by a click."""
    name = page.wait(f"the row {label}", f"{row(label)}?.id")
    # Not below the head of the tree.
    page.evaluate(f"document.querySelector('#{name}').scrollIntoView({{block: 'center'}})")
    page.click(f"#{name} .label")
    page.wait(f"{label} selected", f"Devtools.page.details.node?.label === {json.dumps(label)}")


def show(page, name):
    """Keeps a picture, for a person to look at."""
    if folder := os.environ.get("DEVTOOLS_PICTURES"):
        page.picture(os.path.join(folder, f"{name}.png"))


def panel(page, what, pattern):
    page.wait(what, f"{pattern}.test(document.querySelector('#panel').textContent)")


def see_names(page):
    """What is cut off has a tooltip, and edges that are moved by the mouse."""
    choose(page, "stock")
    expect("shop / stock" in page.evaluate(f"{row('stock')}.querySelector('.cell-path').title"), "a row has no tooltip")
    expect(page.evaluate("document.querySelector('#details-title').title") == "shop / stock", "a title has no tooltip")
    for name, move in (("columns", (-120, 0)), ("rows", (0, -60))):
        handle = f"#split-{name}"
        before = page.evaluate(f"document.querySelector('{handle}').getAttribute('aria-valuenow')")
        x, y = page.place(handle)
        page.drag((x, y), (x + move[0], y + move[1]))
        now = f"document.querySelector('{handle}').getAttribute('aria-valuenow')"
        page.wait(f"{handle} moved", f"{now} !== '{before}'")
        place = page.place(handle)
        for count in (1, 2):
            page.mouse("mousePressed", *place, button="left", clickCount=count)
            page.mouse("mouseReleased", *place, button="left", clickCount=count)
        page.wait(f"{handle} where it was", f"{now} === '{before}'")
    x, y, gutter = page.evaluate(
        "(() => { const b = document.querySelector('#canvas').getBoundingClientRect();"
        " return [b.x, b.y, Devtools.page.timeline.gutter]; })()"
    )
    page.mouse("mouseMoved", x + 20, y + 33)
    page.wait("the whole name of a lane", "!document.querySelector('#tip').hidden")
    page.drag((x + gutter, y + 60), (x + gutter + 50, y + 60))
    page.wait("more room for the names of lanes", f"Devtools.page.timeline.gutter > {gutter + 30}")


def see_lanes(page):
    """The timeline has the lanes in which something happens, in groups, and sums of a selected time."""
    page.wait("the lane of the session", "[...Devtools.page.model.lanes.values()].some((lane) => lane.text === 'session')")
    for _ in range(5):
        page.click("#zoom-in")
    page.wait("no lane in which nothing happens", "!Devtools.page.timeline.active.some((lane) => lane.text === 'session')")
    for _ in range(5):
        page.click("#zoom-out")
    page.wait("a group", "Devtools.page.timeline.lanes[0]?.lanes || Devtools.page.timeline.lanes.some((lane) => lane.lanes)")
    head = page.evaluate("Devtools.page.timeline.lanes.findIndex((lane) => lane.lanes)")
    count = page.evaluate("Devtools.page.timeline.lanes.length")
    x, y, width = page.evaluate(
        "(() => { const b = document.querySelector('#canvas').getBoundingClientRect(); return [b.x, b.y, b.width]; })()"
    )
    place = (x + 20, y + 22 + 22 * head + 11)
    for wanted in ("<", ">="):
        page.mouse("mouseMoved", *place)
        page.mouse("mousePressed", *place, button="left", clickCount=1)
        page.mouse("mouseReleased", *place, button="left", clickCount=1)
        page.wait("a group that is folded or not", f"Devtools.page.timeline.lanes.length {wanted} {count}")
    page.click("#range")
    page.drag((x + width * 0.5, y + 60), (x + width - 10, y + 60))
    page.wait("the sums of a time", "/runs? of \\d+ stores?.* failed.* of running/.test(document.querySelector('#sums').textContent)")
    show(page, "sums")
    page.key("Escape")
    page.wait("no selected time", "document.querySelector('#sums').hidden")
    page.click("#follow")


def see_failures(page):
    """A store that retries counts as failing, and events that tell of failures look so; they can be searched."""
    page.wait(
        "a store that retries and counts as failing",
        "[...Devtools.page.model.rows.values()].some((n) => n.row.status === 'loading' && Devtools.isFailing(n.row))"
        " && Devtools.page.model.root.counts.failing > 0",
        60,
    )
    choose(page, "EUR")
    page.click("#tab-events")
    page.wait("a failed event", "document.querySelector('#events li[data-tone=bad] i')?.style.background.includes('--bad')")
    page.click("#only-failures")
    page.wait("failures alone", "[...document.querySelectorAll('#events li')].every((li) => li.dataset.tone === 'bad')")
    page.click("#only-failures")
    page.write("#event-search", "failed")
    page.wait(
        "the events with a word",
        "(() => { const all = [...document.querySelectorAll('#events li')];"
        " return all.length > 0 && all.every((li) => /failed/i.test(li.textContent)); })()",
    )
    show(page, "events")
    page.write("#event-search", "")


def see_values(page):
    """Two values are compared, and what is secret is not shown."""
    choose(page, "stock")
    page.click("#tab-value")
    page.wait("an earlier value", "document.querySelectorAll('#compare option').length > 1", 40)
    page.evaluate(
        "(() => { const s = document.querySelector('#compare'); s.value = s.options[s.options.length - 1].value;"
        " s.dispatchEvent(new Event('change')); })()"
    )
    page.wait("how two values differ", "document.querySelector('.difference del') && document.querySelector('.difference ins')", 40)
    show(page, "difference")
    choose(page, "session")
    panel(page, "a secret that is named", "/token: Token, secret/")
    choose(page, "orders")
    panel(page, "the calls of a mutation", "/card: CardNumber, secret/")
    page.click("#tab-explanation")
    panel(page, "what a mutation has invalidated", "/has invalidated \\d stores?, the latest first/")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.click("#copy")
    page.wait(
        "a copied explanation",
        "window.copied?.includes('\\n') && window.copied.startsWith(document.querySelector('.headline').firstChild.textContent)",
    )
    show(page, "invalidated")
    page.click(".links button")
    page.wait("a store that was invalidated", "/^shop . products . \\d$/.test(document.querySelector('#details-title').textContent)")
    html = page.evaluate("document.documentElement.outerHTML")
    expect("token-5f1c" not in html and "4711" not in html, "a secret is on the page")


def force(page):
    """A store is held while it loads, fails, and is removed."""
    choose(page, "1")
    store = page.evaluate("Devtools.page.details.node.row.id")
    state = f"Devtools.page.model.rows.get({store})?.row.status"
    page.click("[data-action=hold]")
    page.wait("a store that is held", f"{state} === 'loading' && document.querySelector('[data-action=release]')")
    show(page, "held")
    page.click("[data-action=release]")
    page.wait("a store that goes on", f"{state} === 'success'")
    errors = f"Devtools.page.model.rows.get({store})?.row.errors"
    before = page.evaluate(errors)
    page.click("[data-action=fail]")
    page.wait("a store that has failed", f"{errors} > {before}")
    page.click("[data-action=remove]")
    page.wait("no store any more", f"!Devtools.page.model.rows.has({store})")


def reload(page, shop):
    """Selection, tab and filter are in the address: after a reload, behind a link of another page, and after a restart."""
    choose(page, "stock")
    page.click("#tab-value")
    products = page.wait("the branch", f"{row('products')}?.id")
    page.click(f"#{products} .twist")
    page.wait("a branch that is folded", f"{row('products')}.getAttribute('aria-expanded') === 'false'")
    choose(page, "stock")
    page.write("#filter", "sto")
    kept = (
        "location.hash.includes('tab=value') && location.hash.includes('filter=sto') && !location.href.includes('token')"
        " && document.querySelector('#filter').value === 'sto' && Devtools.page.details.node?.label === 'stock'"
        " && document.querySelector('#tab-value').getAttribute('aria-selected') === 'true'"
        " && document.querySelector('#connection').dataset.state === 'live'"
    )
    page.wait("an address with what is shown", kept)
    former = page.evaluate("Devtools.page.model.hello.process")
    shop.close()
    page.wait("that the program has gone", "document.querySelector('#connection').dataset.state === 'lost'")
    shop.start()
    page.wait("the program again, as it was shown", f"Devtools.page.model.hello.process !== {former} && {kept}", 60)
    page.write("#filter", "")
    page.wait("the branch that was folded", f"{row('products')}?.getAttribute('aria-expanded') === 'false'")
    page.write("#filter", "sto")
    page.evaluate("window.former = true")
    page.call("Page.reload")
    page.wait("the page that was loaded again", f"!window.former && {kept}")
    show(page, "reloaded")
    base = shop.address.split("/?")[0]

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><a id=link href='{base}/'>The devtools</a>".encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.open(f"http://127.0.0.1:{server.server_port}/")
        page.click("#link")
        page.wait("the page behind a link", "document.querySelector('#connection').dataset.state === 'live'")
        page.wait("its stores", "document.querySelectorAll('.row').length >= 4")
        server.shutdown()


def bounds(page):
    """However much happens, the page keeps a bounded part of it."""
    events, runs, lanes = page.evaluate(
        """(() => {
          const model = new Devtools.Model();
          model.apply({ type: 'hello', live: true });
          const note = (kind, index, path, more) =>
            model.note({ kind, number: index, date: index / 1000, path, operation: 'Query', run: index, text: kind, ...more });
          for (let index = 0; index < 200000; index += 1) {
            const path = ['"many"', String(index < 100000 ? index % 7 : index)];
            note('run.began', index, path, { cause: 'call' });
            note('notice', index, path);
            note('run.ended', index, path, { outcome: 'success' });
          }
          return [model.events.length, model.runCount, model.lanes.size];
        })()"""
    )
    expect(events <= 40_000 and runs <= 60_000 and lanes <= 60_000, f"the page keeps {events} events, {runs} runs, {lanes} lanes")


def work(browser, subject):
    shop = Shop(subject)
    try:
        page = browser.page()
        page.size(1280, 1000)
        page.open(shop.address)
        page.wait("its stores", "document.querySelectorAll('.row').length >= 8")
        page.wait("a bought product", "Devtools.page.model.invalidations.size > 0")
        show(page, "shop")
        see_names(page)
        see_lanes(page)
        see_failures(page)
        see_values(page)
        force(page)
        bounds(page)
        reload(page, shop)
        # The browser notes that nothing answered while the program was away, and that the removed store was asked for.
        usual = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED", "404 (Refused)")
        log = [line for line in page.log if not any(text in line for text in usual)]
        expect(log == [], f"the page's log: {log}")
    finally:
        shop.close()
