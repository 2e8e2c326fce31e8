"""Drives Chromium by its DevTools protocol, with Python's own library alone."""

import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class WebSocket:
    """A client of RFC 6455 for messages of text."""

    def __init__(self, address):
        host, _, path = address.removeprefix("ws://").partition("/")
        name, _, port = host.partition(":")
        self.socket = socket.create_connection((name, int(port)), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            (
                f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
        )
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"no WebSocket: {head!r}")

    def send(self, text):
        payload = text.encode()
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        # A mask of zeros is a mask.
        self.socket.sendall(head + b"\0\0\0\0" + payload)

    def exactly(self, count):
        while len(self.rest) < count:
            piece = self.socket.recv(65536)
            if not piece:
                raise RuntimeError("the browser has gone")
            self.rest += piece
        piece, self.rest = self.rest[:count], self.rest[count:]
        return piece

    def receive(self):
        message = b""
        while True:
            first, second = self.exactly(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.exactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.exactly(8))
            payload = self.exactly(size)
            if first & 0x0F in (0, 1, 2):
                message += payload
                if first & 0x80:
                    return message.decode()


class Page:
    """A tab of the browser."""

    def __init__(self, browser, address):
        self.browser = browser
        self.socket = WebSocket(address)
        self.number = 0
        self.log = []
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Network.enable")

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.log.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.log.append(f"{params['entry']['source']}: {params['entry']['text']} {params['entry'].get('url', '')}")

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def evaluate(self, expression):
        """The value of an expression of JavaScript, which may be a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, what, expression, seconds=20):
        """Waits until an expression is true, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                # An element has no value here, but is there.
                value = self.evaluate(f"(() => {{ const v = {expression}; return v instanceof Node ? true : v; }})()")
            except RuntimeError:
                value = None
            if value:
                return value
            if time.monotonic() > end:
                if folder := os.environ.get("DEVTOOLS_PICTURES"):
                    self.picture(os.path.join(folder, "failure.png"))
                raise AssertionError(f"after {seconds} s still not: {what}; the page's log: {self.log}")
            time.sleep(0.05)

    def open(self, address):
        self.call("Page.navigate", url=address)

    def size(self, width, height, scale=1, mobile=False):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def click(self, selector):
        """A real click in the middle of an element, as soon as nothing is in front of it."""
        x, y = self.wait(
            f"{selector} can be clicked",
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'nearest', inline: 'nearest'}); const b = e.getBoundingClientRect();"
            " const place = [b.x + b.width / 2, b.y + b.height / 2];"
            " return e.contains(document.elementFromPoint(...place)) ? place : null; })()",
        )
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def choose(self, selector, path):
        """Chooses a file in an element for files, as a person does."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        element = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=element, files=[path])

    def mouse(self, kind, x, y, **params):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def drag(self, place, other, shift=False):
        """Moves the pressed mouse from one place to another."""
        modifiers = 8 if shift else 0
        self.mouse("mouseMoved", *place, modifiers=modifiers)
        self.mouse("mousePressed", *place, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for step in range(1, 5):
            x, y = (a + (b - a) * step / 4 for a, b in zip(place, other))
            self.mouse("mouseMoved", x, y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", *other, button="left", clickCount=1, modifiers=modifiers)

    def place(self, selector):
        """The middle of an element."""
        return self.wait(
            f"{selector} has a place",
            f"(() => {{ const b = document.querySelector({json.dumps(selector)})?.getBoundingClientRect();"
            " return b && b.width > 0 ? [b.x + b.width / 2, b.y + b.height / 2] : null; })()",
        )

    def write(self, selector, text):
        """Replaces the text of a field, as the keyboard does."""
        self.click(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}).select()")
        if text:
            self.call("Input.insertText", text=text)
        else:
            self.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Backspace", windowsVirtualKeyCode=8)
            self.call("Input.dispatchKeyEvent", type="keyUp", key="Backspace", windowsVirtualKeyCode=8)
        self.wait(f"{selector} has its text", f"document.querySelector({json.dumps(selector)}).value === {json.dumps(text)}")

    def key(self, key, text=None):
        code = {"type": "keyDown", "key": key}
        if text or len(key) == 1:
            code["text"] = text or key
        self.call("Input.dispatchKeyEvent", **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))


class Browser:
    """A headless Chromium with a profile of its own."""

    names = ("chromium", "chromium-browser", "google-chrome", "chrome")

    def __init__(self, *arguments):
        program = next((path for path in map(shutil.which, self.names) if path), None)
        if not program:
            raise FileNotFoundError("a browser is missing: install Chromium, on Debian by 'apt-get install chromium'")
        self.folder = tempfile.mkdtemp(prefix="devtools-browser.")
        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run",
                "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                f"--user-data-dir={self.folder}", "--remote-allow-origins=*", *arguments, "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.port = self.find_port()

    def find_port(self):
        path = os.path.join(self.folder, "DevToolsActivePort")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if os.path.exists(path):
                lines = open(path).read().split("\n")
                if len(lines) > 1:
                    return int(lines[0])
            if self.process.poll() is not None:
                raise RuntimeError("the browser has ended at once")
            time.sleep(0.05)
        raise RuntimeError("the browser does not open its port")

    def page(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return Page(self, json.load(answer)["webSocketDebuggerUrl"])

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
