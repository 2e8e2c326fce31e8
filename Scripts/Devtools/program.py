"""Programs that serve a page of OperationDevtools, for the check."""

import contextlib
import re
import select
import subprocess
import threading
import time


class Program:
    """A program that prints the address of its page."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
        )

    def line(self, pattern=".*", seconds=60):
        """Waits for a line that matches."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            if not ready:
                break
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{self.process.args[0]} has ended")
            if re.search(pattern, line):
                return line.strip()
        raise AssertionError(f"{self.process.args[0]} prints no line with {pattern}")

    def address(self):
        return re.search(r"http://\S+", self.line("http://127")).group()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def drain(self):
        """Reads what the program prints from now on, so that it does not wait for a reader."""
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def expect(condition, what):
    if not condition:
        raise AssertionError(what)
