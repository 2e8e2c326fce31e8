"""Writes a recording of many events, in the form that `Modules/Devtools/Recording` has for them."""

import json
import random

STORES = 2_000


def write_recording(path, count):
    """Writes a file with as many events of runs, of which every fifth fails once, and returns its size in bytes."""
    numbers = random.Random(7)
    rows = [
        {
            "id": index + 1, "path": ['"posts"', str(index % 20), str(index)], "operation": "GetPost", "kind": "query",
            "status": "success", "canBeStale": True, "subscribers": 1, "values": 0, "errors": 0,
        }
        for index in range(STORES)
    ]
    places, fresh = {}, []

    def place(text):
        if text not in places:
            places[text] = len(places)
            fresh.append(text)
        return places[text]

    with open(path, "w") as file:

        def write(message):
            file.write(json.dumps(message, separators=(",", ":")) + "\n")

        write({"type": "hello", "version": 1, "program": "million", "live": True})
        for start in range(0, STORES, 500):
            write({"type": "update", "date": 1000, "stores": rows[start : start + 500]})
        write({"type": "update", "date": 1000, "ready": True})
        number, time, run, written = 0, 1_000_000_000, 0, 0
        while written < count:
            log, base, changed = [], [number, time], {}
            for turn in range(100):
                store = numbers.randrange(STORES)
                run += 1
                path_place, operation = place(json.dumps(rows[store]["path"], separators=(",", ":"))), place("GetPost")
                cause = place('["polling","polling every 5 s"]') + 1
                events = [("run.began", "began, started by polling every \u0001 s", [5], "")]
                if turn % 5 == 0:
                    text = "attempt \u0001 failed: Refused(code: \u0001); the next one begins in \u0001 s"
                    events.append(("attempt.failed", text, [1, turn, 1.2], '"delay":1.2'))
                events.append(("run.ended", "succeeded after \u0001 ms", [numbers.randrange(1000)], '"outcome":"success"'))
                for kind, text, filled, more in events:
                    step, pause = (1, numbers.randrange(900)) if log else (0, 0)
                    number, time = number + step, time + pause
                    log.append(
                        [step, pause, store + 1, path_place, operation, place(kind), cause, run, place(text), *filled, place(more)]
                    )
                changed[store] = {**rows[store], "values": run, "valueDate": time / 1e6}
            message = {"type": "update", "date": time / 1e6, "stores": list(changed.values())[:50]}
            if fresh:
                message["strings"] = list(fresh)
                fresh.clear()
            write({**message, "base": base, "log": log})
            written += len(log)
            number, time = number + 1, time + 100
        return file.tell()
